"""Small files laid out as the public formats say; row t of episode i has numbers of its own."""

import numpy as np
import pytest


@pytest.fixture
def numbered():
    """T rows of D numbers: i + t / 100 in the first dimension, 0 elsewhere, float64 as these tools write."""

    def numbered(index, length, size):
        values = np.zeros((length, size))
        values[:, 0] = index / 10 + np.arange(length) / 100
        return values

    return numbered


@pytest.fixture
def frames():
    """T frames of 6 x 8 whose red channel is 10 i + t, on black."""

    def frames(index, length):
        images = np.zeros((length, 6, 8, 3), np.uint8)
        images[..., 0] = (10 * index + np.arange(length))[:, None, None]
        return images

    return frames
