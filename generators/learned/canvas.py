"""All cameras on one canvas, so that one latent holds every view of a moment and the views cannot disagree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...storage.errors import ConfigError
from ...storage.spec import Camera


def canvas_size(cameras: Sequence[Camera], multiple: int) -> tuple[int, int]:
    """Height and width that hold every camera's frame, rounded up to a multiple.

    Raises:
        ConfigError: there is no camera.
    """
    if not cameras:
        raise ConfigError("a learned world needs at least one camera, and the dataset has none; record one")
    height, width = (max(getattr(camera, side) for camera in cameras) for side in ("height", "width"))
    return -(-height // multiple) * multiple, -(-width // multiple) * multiple


def lay_out(frames: Sequence[np.ndarray], height: int, width: int) -> np.ndarray:
    """Frames of V cameras, each (..., h, w, 3), side by side in the channels of a canvas (..., height, width, 3V).

    Each stands in the upper left corner as it is; its last row and column are repeated below and beside it. Cameras
    of different sizes are not resized, as a resized frame could not be given back as it was.
    """
    return np.concatenate([_widen(frame, height, width) for frame in frames], axis=-1)


def cut_out(canvas: np.ndarray, cameras: Sequence[Camera]) -> dict[str, np.ndarray]:
    """Camera name -> frames (N, h, w, 3), copies: the inverse of `lay_out`."""
    return {
        camera.name: np.ascontiguousarray(canvas[:, : camera.height, : camera.width, 3 * i : 3 * i + 3])
        for i, camera in enumerate(cameras)
    }


def _widen(frames: np.ndarray, height: int, width: int) -> np.ndarray:
    below, beside = height - frames.shape[-3], width - frames.shape[-2]
    missing = [(0, 0)] * (frames.ndim - 3) + [(0, below), (0, beside), (0, 0)]
    return np.pad(frames, missing, "edge") if below or beside else frames
