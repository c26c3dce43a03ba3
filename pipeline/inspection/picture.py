"""A picture inside a page."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image

from ..report.pictures import data_uri


@dataclass(frozen=True)
class Picture:
    """Something to show of an episode.

    Args:
        source: a data URI.
        width: in px.
        height: in px.
        speed: how many times faster than it happened a film plays.
        poster: what stands in a film's place until it plays, as a data URI.
    """

    source: str
    width: int
    height: int
    speed: int = 1
    poster: str = ""


def webp(pixels: np.ndarray, lossless: bool) -> str:
    """Pixels (H, W, 3 or 4) uint8 as WebP in a data URI."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "WEBP", lossless=lossless, quality=75)
    return data_uri(buffer.getvalue(), "image/webp")
