"""Foreign frames as RGB, height, width, channels, uint8."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import StoreError
from .recording import Window


@dataclass(frozen=True)
class FrameLayout:
    """How the frames of one camera lie in a foreign file.

    Args:
        height, width: in pixels.
        channels_first: (3, H, W) rather than (H, W, 3).
        brightest: what white is: 255, or 1.
        blue_first: OpenCV's order of channels.
    """

    height: int
    width: int
    channels_first: bool
    brightest: int
    blue_first: bool = False

    def to_rgb(self, frames: np.ndarray, key: str) -> np.ndarray:
        """(T, H, W, 3) uint8 RGB.

        Raises:
            StoreError: a level lies outside 0 .. brightest.
        """
        if frames.dtype != np.uint8:
            low, high = float(frames.min()), float(frames.max())
            if not (low >= 0 and high <= self.brightest):
                raise StoreError(
                    f"the frames {key} hold levels {low:g} .. {high:g} where 0 .. {self.brightest} is expected from "
                    "the first episode; bring all to one range"
                )
            frames = np.rint(frames * (255 / self.brightest)).astype(np.uint8)
        if self.channels_first:
            frames = np.moveaxis(frames, 1, -1)
        return np.ascontiguousarray(frames[..., ::-1] if self.blue_first else frames)


def looks_like_frames(window: Window) -> bool:
    """Whether the rows of an array are images of three channels."""
    return len(window.row_shape) == 3 and 3 in (window.row_shape[0], window.row_shape[-1])


def frame_layout(window: Window, key: str, blue_first: bool = False) -> FrameLayout:
    """How the frames of one camera lie, by their shape and by the levels of an episode's first frames.

    Raises:
        StoreError: these are no frames of three channels, or of a type that says nothing of what white is.
    """
    if not looks_like_frames(window):
        raise StoreError(
            f"{key} has rows of shape {window.row_shape}; expected (height, width, 3) or (3, height, width)"
        )
    channels_first = window.row_shape[-1] != 3
    height, width = window.row_shape[1:] if channels_first else window.row_shape[:2]
    return FrameLayout(height, width, channels_first, _brightest(window, key), blue_first)


def _brightest(window: Window, key: str) -> int:
    if window.dtype == np.uint8:
        return 255
    if window.dtype.kind != "f":
        raise StoreError(f"the frames {key} are {window.dtype}; expected uint8, or floats of 0 .. 255 or 0 .. 1")
    return 255 if window.read(0, min(len(window), 16)).max() > 1 else 1
