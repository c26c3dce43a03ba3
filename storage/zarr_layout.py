"""How `ZarrStore` lays out an array on disk: in shards (files) of chunks (compressed one by one), as Zarr v3 has it.

<array>/zarr.json          shape, dtype, and rows of a chunk and of a shard
<array>/c/<shard>/0/...    chunks one after the other, then the index: where each of them lies, and a CRC-32C

Index and metadata follow https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .atomic import read_json
from .errors import StoreError

#: Measured on 64 px PushT frames: 32 to a chunk, zstd level 3 takes 75 B/frame and writes 24 000 frames/s; 16 takes
#: 90 B/frame, Blosc with bit shuffle 550 B/frame.
_ROWS_PER_CHUNK = 32
ZSTD_LEVEL = 3
_CHUNK_BYTES = 8 << 20
#: A short episode is one file for each camera; plain zarr holds a shard in memory to read or change the whole of it.
_CHUNKS_PER_SHARD = 32
_SHARD_BYTES = 32 << 20

_DTYPES: dict[str, np.dtype[Any]] = {"uint8": np.dtype("u1"), "float32": np.dtype("<f4")}
#: What the index holds in place of offset and length for a chunk that is not in the file, and reads as zeros.
_ABSENT = 2**64 - 1
_CHECKSUM_BYTES = 4


@dataclass(frozen=True)
class ArrayLayout:
    """Where the rows of an array lie.

    Args:
        shape: of the whole array.
        dtype: uint8 of frames, float32 of columns.
        chunk_rows, shard_rows: rows in a chunk and in a shard.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunk_rows: int
    shard_rows: int

    def __post_init__(self) -> None:
        if not all(isinstance(size, int) and size >= 0 for size in self.shape):
            raise ValueError(f"shape must be of whole numbers, got {self.shape}")
        if self.dtype not in _DTYPES.values():
            raise ValueError(f"dtype must be uint8 or float32, got {self.dtype}")
        if self.chunk_rows < 1 or self.shard_rows < 1 or self.shard_rows % self.chunk_rows:
            raise ValueError(f"shards must be of whole chunks, got {self.shard_rows} and {self.chunk_rows} rows")

    @property
    def chunk_shape(self) -> tuple[int, ...]:
        """Shape of every chunk, also of the last, which is filled up."""
        return (self.chunk_rows, *self.shape[1:])

    @property
    def chunks_per_shard(self) -> int:
        """Chunks that a whole shard has; the last shard has its index for as many."""
        return self.shard_rows // self.chunk_rows

    @property
    def index_bytes(self) -> int:
        """Length of the index at the end of a shard."""
        return 16 * self.chunks_per_shard + _CHECKSUM_BYTES

    def shard_file(self, folder: Path, shard: int) -> Path:
        """The file of a shard of the array in `folder`."""
        return folder.joinpath("c", str(shard), *("0" for _ in self.shape[1:]))

    def metadata(self) -> dict[str, Any]:
        """What Zarr keeps as the array's `zarr.json`."""
        (data_type,) = (name for name, dtype in _DTYPES.items() if dtype == self.dtype)
        little_endian = {"name": "bytes", "configuration": {"endian": "little"}}
        sharding = {
            "chunk_shape": list(self.chunk_shape),
            "codecs": [
                little_endian if self.dtype.itemsize > 1 else {"name": "bytes"},
                {"name": "zstd", "configuration": {"level": ZSTD_LEVEL, "checksum": True}},
            ],
            "index_codecs": [little_endian, {"name": "crc32c"}],
            "index_location": "end",
        }
        shard_shape = [self.shard_rows, *self.shape[1:]]
        return {
            "shape": list(self.shape),
            "data_type": data_type,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shard_shape}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": self.dtype.type(0).item(),
            "codecs": [{"name": "sharding_indexed", "configuration": sharding}],
            "attributes": {},
            "zarr_format": 3,
            "node_type": "array",
            "storage_transformers": [],
        }


def layout_for(rows: np.ndarray) -> ArrayLayout:
    """How an array of such rows, as yet of none, is to be laid out."""
    row_shape = rows.shape[1:]
    row_bytes = max(1, math.prod(row_shape) * rows.dtype.itemsize)
    chunk = max(1, min(_ROWS_PER_CHUNK, _CHUNK_BYTES // row_bytes))
    shard = chunk * max(1, min(_CHUNKS_PER_SHARD, _SHARD_BYTES // (chunk * row_bytes)))
    return ArrayLayout((0, *row_shape), _DTYPES[rows.dtype.name], chunk, shard)


def read_layout(folder: Path) -> ArrayLayout:
    """The layout of the array in `folder`.

    Raises:
        StoreError: it is not there, or not laid out as `ZarrStore` does.
    """
    data = read_json(folder / "zarr.json")
    try:
        (sharding,) = data["codecs"]
        inner, shard = sharding["configuration"], data["chunk_grid"]["configuration"]["chunk_shape"]
        shape, chunk = data["shape"], inner["chunk_shape"]
        if _is_ours(sharding["name"], inner) and shape[1:] == chunk[1:] == shard[1:]:
            return ArrayLayout(tuple(shape), _DTYPES[data["data_type"]], chunk[0], shard[0])
    except (AttributeError, LookupError, TypeError, ValueError):
        pass
    raise StoreError(
        f"{folder} is not laid out as demoloom writes arrays; restore it from a copy, or read the episode with zarr "
        "and append it anew"
    )


def _is_ours(name: str, sharding: Mapping[str, Any]) -> bool:
    to_bytes, *others = sharding["codecs"]
    return (
        (name, sharding["index_location"]) == ("sharding_indexed", "end")
        and [codec["name"] for codec in (to_bytes, *others)] == ["bytes", "zstd"]
        and [codec["name"] for codec in sharding["index_codecs"]] == ["bytes", "crc32c"]
        and to_bytes.get("configuration", {}).get("endian", "little") == "little"
    )


class Place(NamedTuple):
    """Where in its shard's file a chunk lies, in bytes."""

    offset: int
    length: int


def pack_index(places: Sequence[Place], layout: ArrayLayout) -> bytes:
    """The index of a shard whose first chunks lie there, and which has no others."""
    index = np.full((layout.chunks_per_shard, 2), _ABSENT, "<u8")
    index[: len(places)] = places
    return index.tobytes() + _checksum(index.tobytes())


def place_in(index: bytes, number: int) -> Place | None:
    """Where a chunk of a shard lies by the shard's index; None if it is not in the file.

    Raises:
        ValueError: the index is damaged.
    """
    table = index[:-_CHECKSUM_BYTES]
    if _checksum(table) != index[-_CHECKSUM_BYTES:]:
        raise ValueError("the index at its end is not whole")
    offset, length = (int(entry) for entry in np.frombuffer(table, "<u8", 2, 16 * number))
    return None if offset == length == _ABSENT else Place(offset, length)


def _checksum(table: bytes) -> bytes:
    from google_crc32c import value

    return value(table).to_bytes(_CHECKSUM_BYTES, "little")
