"""Frames that a LeRobot dataset keeps as images in its rows."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from .errors import StoreError
from .spec import Camera


def read_images(path: Path, key: str, camera: Camera, first: int, count: int) -> np.ndarray:
    """Rows first .. first + count - 1 of a file's column of images, (count, H, W, 3) uint8 RGB.

    Only the row groups that hold them are read.

    Raises:
        StoreError: the file is damaged, or an image in it is none or of another size.
    """
    from PIL import Image

    frames = np.empty((count, camera.height, camera.width, 3), np.uint8)
    for number, image in enumerate(_encoded(path, key, first, count)):
        try:
            frames[number] = np.asarray(Image.open(BytesIO(image)).convert("RGB"))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"cannot read {key} of row {first + number} of {path} ({error}); restore the file from a copy"
            ) from error
    return frames


def _encoded(path: Path, key: str, first: int, count: int) -> list[bytes]:
    found: list[bytes] = []
    try:
        with pq.ParquetFile(path) as file:
            start = 0
            for number in range(file.num_row_groups):
                end = start + file.metadata.row_group(number).num_rows
                if start < first + count and end > first:
                    column = file.read_row_group(number, columns=[key])[key]
                    part = column.slice(max(0, first - start), min(end, first + count) - max(start, first))
                    found += [image["bytes"] for image in part.to_pylist()]
                start = end
    except (OSError, pa.ArrowInvalid) as error:
        raise StoreError(f"cannot read {path} ({error}); its writer was stopped, or it was damaged since") from error
    return found
