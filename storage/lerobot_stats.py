"""`meta/stats.json` of a LeRobot dataset, exact over all rows, in memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import lerobot_layout as layout
from .atomic import read_json, write_json
from .columns import image_key, names_of
from .errors import StoreError
from .norm_stats import ColumnStats, image_stats, vector_stats
from .spec import EpisodeSpec

_ROWS_PER_BLOCK = 1 << 16


def write_stats(path: Path, spec: EpisodeSpec, num_rows: int, growth: float = 1.0) -> None:
    """Make the statistics of the first `num_rows` rows anew, unless those there count rows enough.

    Args:
        growth: how many times as many rows as were counted there must be.
    """
    file = path / layout.STATS
    counted = read_json(file)["index"]["count"][0] if file.is_file() else 0
    if num_rows == counted or num_rows < counted * growth:
        return
    stats = column_stats(path, [*names_of(spec), *layout.BOOKKEEPING], num_rows)
    pixels = np.load(path / layout.SIDECAR_PIXELS.format(num_rows=num_rows))
    for camera, histogram in zip(spec.cameras, pixels, strict=True):
        stats[image_key(camera.name)] = image_stats(histogram, num_rows)
    write_json(file, to_json(stats))


def to_json(stats: dict[str, dict[str, np.ndarray]]) -> dict[str, Any]:
    """Statistics as `meta/stats.json` has them."""
    return {name: {stat: value.tolist() for stat, value in of.items()} for name, of in stats.items()}


def column_stats(path: Path, names: Sequence[str], num_rows: int) -> dict[str, dict[str, np.ndarray]]:
    """`norm_stats.vector_stats` of these columns over the first `num_rows` rows of all data files."""
    if num_rows <= _ROWS_PER_BLOCK:
        (block,) = _blocks(path, names, num_rows)
        return {name: vector_stats(rows) for name, rows in block.items()}
    found: dict[str, ColumnStats] = {}
    for block in _blocks(path, names, num_rows):
        for name, rows in block.items():
            found.setdefault(name, ColumnStats(rows.shape[1], rows.dtype)).add(rows)
    for stats in found.values():
        stats.begin_second_pass()
    for block in _blocks(path, names, num_rows):
        for name, rows in block.items():
            found[name].add_again(rows)
    return {name: stats.finish() for name, stats in found.items()}


def _blocks(path: Path, names: Sequence[str], num_rows: int) -> Iterator[dict[str, np.ndarray]]:
    """The columns, many rows at a time: counting 65,536 bins for each small file would take longest."""
    waiting: list[pa.Table] = []
    left = num_rows
    for table in _row_groups(path, names):
        waiting.append(table.slice(0, left))
        left -= len(waiting[-1])
        if sum(map(len, waiting)) >= _ROWS_PER_BLOCK or left == 0:
            yield {name: as_rows(pa.concat_tables(waiting)[name]) for name in names}
            waiting = []
        if left == 0:
            return


def _row_groups(path: Path, names: Sequence[str]) -> Iterator[pa.Table]:
    for file in sorted((path / "data").glob("*/*.parquet")):
        try:
            with pq.ParquetFile(file) as parquet:
                for number in range(parquet.num_row_groups):
                    yield parquet.read_row_group(number, columns=list(names))
        except (OSError, pa.ArrowException) as error:
            raise StoreError(f"cannot read {file} ({error}); restore it from a copy") from error


def as_rows(column: pa.ChunkedArray) -> np.ndarray:
    """A column of numbers or of lists of one length, as (T, D) of its own dtype."""
    array = column.combine_chunks()
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_fixed_size_list(array.type):
        return array.flatten().to_numpy(zero_copy_only=False).reshape(len(array), -1)
    return array.to_numpy(zero_copy_only=False).reshape(-1, 1)
