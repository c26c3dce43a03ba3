"""Frames that a LeRobot dataset keeps as images in its rows."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import numpy as np

from .errors import StoreError
from .image_access import OpenImages
from .spec import Camera


def read_images(path: Path, key: str, camera: Camera, first: int, count: int) -> np.ndarray:
    """Rows first .. first + count - 1 of a file's column of images, (count, H, W, 3) uint8 RGB.

    Only the row groups that hold them are read.

    Raises:
        StoreError: the file is damaged or too short, or an image in it is none or of another size.
    """
    frames = np.empty((count, camera.height, camera.width, 3), np.uint8)
    try:
        with closing(OpenImages(path, key)) as images:
            for number in range(count):
                frames[number] = images.decode(first + number)
    except (OSError, ValueError) as error:
        last = first + count - 1
        raise StoreError(
            f"cannot read {key} of rows {first} .. {last} of {path} ({error}); restore the file from a copy"
        ) from error
    return frames
