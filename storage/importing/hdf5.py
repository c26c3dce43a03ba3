"""HDF5 files of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from .recording import Window


@contextmanager
def open_hdf5(path: Path) -> Iterator[Any]:
    """The open file.

    Raises:
        StoreError: there is none, or it is damaged.
    """
    import h5py

    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise StoreError(f"cannot read {path} as an HDF5 file ({error}); restore it from a copy") from error
    with file:
        yield file


def arrays_of(group: Any) -> dict[str, Window]:
    """All arrays with rows in a group and in those below it, by their path in the group."""
    import h5py

    found: dict[str, Window] = {}

    def keep(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim:
            found[name] = Window.whole(item)

    group.visititems(keep)
    return found


def file_arrays(path: Path) -> dict[str, Window]:
    """As `arrays_of` for a whole file, which is open only while it is read: there may be thousands of them."""
    with open_hdf5(path) as file:
        return {
            key: Window.whole(FileArray(path, key, window.array.shape, window.dtype))
            for key, window in arrays_of(file).items()
        }


@dataclass(frozen=True)
class FileArray:
    """An array in an HDF5 file that is not open."""

    path: Path
    key: str
    shape: tuple[int, ...]
    dtype: np.dtype

    def __getitem__(self, rows: slice) -> np.ndarray:
        with open_hdf5(self.path) as file:
            return np.asarray(file[self.key][rows])


def described(path: Path, format: str, key: str, hash: str) -> Mapping[str, str]:
    """Where an episode came from, for its lineage."""
    return {"format": format, "file": path.name, "sha256": hash, "key": key}


def safe_id(*parts: str) -> str:
    """An episode's id out of names from a foreign file."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(parts)).lstrip(".-")[-200:]


def number_in(name: str) -> int:
    """The number at the end of a name such as `demo_12`; 0 if there is none."""
    found = re.search(r"(\d+)$", name)
    return int(found[1]) if found else 0
