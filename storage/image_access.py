"""Single images of a Parquet file in which a LeRobot dataset keeps frames."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq


class OpenImages:
    """One file of images; the row group last read stays in memory, still encoded.

    Args:
        path: of the file.
        column: its column of images.
    """

    def __init__(self, path: Path, column: str) -> None:
        self._column = column
        self._file = pq.ParquetFile(path)
        counts = [self._file.metadata.row_group(group).num_rows for group in range(self._file.num_row_groups)]
        self._starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        self._group = -1
        self._images: pa.ChunkedArray | None = None

    def decode(self, number: int) -> np.ndarray:
        """Image `number` of the file, (H, W, 3) uint8 RGB.

        Raises:
            ValueError: there are fewer.
            OSError: the file or the image is damaged.
        """
        from PIL import Image

        if not 0 <= number < self._starts[-1]:
            raise ValueError(f"the file holds {self._starts[-1]} images")
        group = int(np.searchsorted(self._starts, number, side="right")) - 1
        if group != self._group:
            self._images = self._file.read_row_group(group, columns=[self._column])[self._column]
            self._group = group
        assert self._images is not None
        encoded = self._images[number - int(self._starts[group])].as_py()["bytes"]
        return np.asarray(Image.open(BytesIO(encoded)).convert("RGB"))

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()
