"""The cameras of an episode side by side in one picture, at a size for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from ...storage.spec import Camera

#: Cameras in a row of a picture at most.
PER_ROW = 4


@dataclass(frozen=True)
class Tiles:
    """Where each camera's frame stands in the picture of all of them.

    Args:
        cameras: in the order in which they are shown, row by row.
        side: longer side of a frame in px, at most; a frame of less than half of that is enlarged by a whole factor,
            so that its pixels stay squares.
    """

    cameras: Sequence[Camera]
    side: int

    @property
    def height(self) -> int:
        """Of the picture, in px; even, as video needs it."""
        return _even(sum(self._row_heights()))

    @property
    def width(self) -> int:
        """Of the picture, in px; even, as video needs it."""
        return _even(max(sum(self.size(camera)[1] for camera in row) for row in self._rows()))

    def size(self, camera: Camera) -> tuple[int, int]:
        """Height and width in px at which a camera is shown."""
        longest = max(camera.height, camera.width)
        factor = math.ceil(self.side / 2 / longest) if longest <= self.side else self.side / longest
        return max(1, round(camera.height * factor)), max(1, round(camera.width * factor))

    def picture(self, images: Mapping[str, np.ndarray]) -> np.ndarray:
        """One frame (H, W, 3) uint8 of each camera -> (height, width, 3) uint8; black where there is none."""
        canvas = np.zeros((self.height, self.width, 3), np.uint8)
        top = 0
        for row, row_height in zip(self._rows(), self._row_heights(), strict=True):
            left = 0
            for camera in row:
                frame = resized(images[camera.name], *self.size(camera))
                canvas[top : top + frame.shape[0], left : left + frame.shape[1]] = frame
                left += frame.shape[1]
            top += row_height
        return canvas

    def _rows(self) -> list[Sequence[Camera]]:
        return [self.cameras[start : start + PER_ROW] for start in range(0, len(self.cameras), PER_ROW)]

    def _row_heights(self) -> list[int]:
        return [max(self.size(camera)[0] for camera in row) for row in self._rows()]


def resized(frame: np.ndarray, height: int, width: int) -> np.ndarray:
    """A frame (H, W, 3) uint8 at another size: each pixel a square when enlarged, averaged when made smaller."""
    if frame.shape[:2] == (height, width):
        return frame
    return np.asarray(Image.fromarray(frame).resize((width, height), Image.Resampling.BOX))


def _even(length: int) -> int:
    return 2 * math.ceil(length / 2)
