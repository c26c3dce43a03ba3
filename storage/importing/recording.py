"""The arrays of one episode in a foreign file, read a part at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Window:
    """Rows start .. stop - 1 of an array on disk (HDF5 or Zarr), which nothing is read of before it is asked for."""

    array: Any
    start: int
    stop: int

    @classmethod
    def whole(cls, array: Any) -> Window:
        """All rows of an array."""
        return cls(array, 0, array.shape[0])

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of one row."""
        return tuple(self.array.shape[1:])

    @property
    def dtype(self) -> np.dtype:
        """Type of the numbers."""
        return np.dtype(self.array.dtype)

    def read(self, start: int, stop: int) -> np.ndarray:
        """Rows start .. stop - 1 of the window."""
        return np.asarray(self.array[self.start + start : self.start + stop])


@dataclass(frozen=True)
class Recording:
    """One foreign episode.

    Args:
        key: where it lies in its file, `data/demo_3`.
        id: its id here.
        number: its index here.
        arrays: key in the file -> its rows.
        source: for the lineage: the file, its hash and the key.
        task: what its file says the task was; empty if it does not.
    """

    key: str
    id: str
    number: int
    arrays: Mapping[str, Window]
    source: Mapping[str, Any]
    task: str = ""

    @property
    def place(self) -> str:
        """What to call it in a message."""
        return f"{self.key} of {self.source['file']}"
