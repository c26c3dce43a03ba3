"""Windows of recorded rows for training: a torch Dataset over both formats, with LeRobot's keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from .columns import IMAGE_PREFIX
from .errors import ConfigError
from .row_table import RowTable, StoredFrames


class WindowDataset(Dataset[dict[str, Any]]):
    """What LeRobot's dataset gives with its delta timestamps, one window for each row that one may start from.

    Its order is that of the rows; shuffling is the sampler's. A DataLoader that is given a BatchSampler as `sampler`
    and `batch_size=None` gets whole batches, without the copy that putting single windows together takes. Forked
    workers share what lies in memory, spawned ones get a copy; each opens the files it reads itself.

    Args:
        table: the rows, see `read_table`.
        deltas: name of a column -> at which rows from the window's own one it is wanted; None gives that of the own
            row, without an axis for time and without `<name>_is_pad`.
        rows: (W,) rows of the table that windows are for; all without.
        as_float: images as float32 in [0, 1], else as uint8.

    Raises:
        ConfigError: the table has no such column.
    """

    def __init__(
        self,
        table: RowTable,
        deltas: Mapping[str, Sequence[int] | None],
        rows: np.ndarray | None = None,
        as_float: bool = True,
    ) -> None:
        for name in deltas:
            if name not in table.columns:
                raise ConfigError(f"there is no column {name!r} to make windows of; there are {sorted(table.columns)}")
        self.table, self.deltas, self._as_float = table, deltas, as_float
        self.rows = np.arange(len(table)) if rows is None else rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, item: int | Sequence[int]) -> dict[str, Any]:
        """One window, with the keys of `batch` and without its first axis; of several items, their batch."""
        return self.__getitems__([item])[0] if isinstance(item, int | np.integer) else self.batch(item)

    def __getitems__(self, items: Sequence[int]) -> list[dict[str, Any]]:
        """The windows of a batch, as torch's DataLoader asks for them; what they share is read once."""
        batch = self.batch(items)
        return [{key: values[place] for key, values in batch.items()} for place in range(len(items))]

    def batch(self, items: Sequence[int] | np.ndarray) -> dict[str, Any]:
        """B windows at once.

        Returns:
            For each column (B, D, ...) or (B, ...), images with their channels before height and width (in memory
            after them); `<name>_is_pad` (B, D) bool, true where the first or last row of the episode stands in for
            one beyond; `index`, `frame_index` and `episode_index` (B,) int64, `timestamp` (B,) float32 seconds and
            `task`, a list of B texts.
        """
        rows = self.rows[np.asarray(items)]
        found, places = self._bookkeeping(rows), {}
        for name, deltas in self.deltas.items():
            places[name] = rows
            if deltas is not None:
                places[name], is_pad = self.table.timeline.window(rows, deltas)
                found[f"{name}_is_pad"] = torch.from_numpy(is_pad)
        return found | self._values(places)

    def _values(self, places: Mapping[str, np.ndarray]) -> dict[str, Tensor]:
        num_read = sum(isinstance(self.table[name], StoredFrames) for name in places)
        if num_read < 2:
            return {name: self._of_column(name, rows) for name, rows in places.items()}
        # One thread for each camera: decoders let go of Python's lock.
        with ThreadPoolExecutor(num_read) as threads:
            return dict(zip(places, threads.map(self._of_column, places, places.values()), strict=True))

    def _of_column(self, name: str, rows: np.ndarray) -> Tensor:
        values = torch.as_tensor(self.table[name][rows])
        if not name.startswith(IMAGE_PREFIX):
            return values
        images = values.movedim(-1, -3)
        return images.float().div_(255) if self._as_float else images

    def _bookkeeping(self, rows: np.ndarray) -> dict[str, Any]:
        timeline = self.table.timeline
        episodes = timeline.episode_of[rows]
        steps = rows - timeline.starts[episodes]
        return {
            "index": torch.from_numpy(rows),
            "frame_index": torch.from_numpy(steps),
            "episode_index": torch.from_numpy(episodes),
            "timestamp": torch.from_numpy((steps / self.table.spec.fps).astype(np.float32)),
            "task": [self.table.tasks[episode] for episode in episodes],
        }
