"""Arrays of a Zarr store written past zarr, whose own way costs 15 ms of Python more for an episode of 96 px.

Plain zarr reads them: `zarr_layout` says what it expects.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .zarr_layout import ZSTD_LEVEL, Place, layout_for, pack_index


class ArrayWriter:
    """A new array in `folder` that rows are added to; no more than a chunk of it is in memory.

    Between calls no file is open, so that any number of episodes may be under way.

    Args:
        folder: where nothing stands yet.
        like: rows of the shape and dtype of those to come, which are uint8 or float32.
    """

    def __init__(self, folder: Path, like: np.ndarray) -> None:
        from numcodecs.zstd import Zstd

        self._folder = folder
        self._layout = layout_for(like)
        self._num_rows = 0
        self._chunk = np.zeros(self._layout.chunk_shape, self._layout.dtype)
        self._places: list[Place] = []
        self._shard = 0
        self._zstd = Zstd(level=ZSTD_LEVEL, checksum=True)

    def write(self, rows: np.ndarray) -> None:
        """Add rows to the end; OSError if the disk is full."""
        while len(rows):
            filled = self._num_rows % self._layout.chunk_rows
            count = min(len(rows), self._layout.chunk_rows - filled)
            self._chunk[filled : filled + count] = rows[:count]
            self._num_rows += count
            rows = rows[count:]
            if filled + count == self._layout.chunk_rows:
                self._write_chunk()

    def close(self) -> None:
        """Write what is left, and the metadata, without which the array is not one."""
        if filled := self._num_rows % self._layout.chunk_rows:
            self._chunk[filled:] = 0
            self._write_chunk()
        if self._places:
            self._end_shard()
        layout = replace(self._layout, shape=(self._num_rows, *self._layout.shape[1:]))
        _write_metadata(self._folder, layout.metadata())

    def _write_chunk(self) -> None:
        packed = self._zstd.encode(self._chunk)
        offset = sum(self._places[-1]) if self._places else 0
        self._append(packed)
        self._places.append(Place(offset, len(packed)))
        if len(self._places) == self._layout.chunks_per_shard:
            self._end_shard()

    def _end_shard(self) -> None:
        self._append(pack_index(self._places, self._layout))
        self._places = []
        self._shard += 1

    def _append(self, data: bytes) -> None:
        file = self._layout.shard_file(self._folder, self._shard)
        if not self._places:
            file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as shard:
            shard.write(data)


def write_group(folder: Path, attributes: Mapping[str, Any]) -> None:
    """Make a folder of arrays a group with these attributes; OSError if the disk is full."""
    _write_metadata(folder, {"attributes": attributes, "zarr_format": 3, "node_type": "group"})


def _write_metadata(folder: Path, metadata: Mapping[str, Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "zarr.json").write_text(json.dumps(metadata, indent=2, allow_nan=False), encoding="utf-8")
