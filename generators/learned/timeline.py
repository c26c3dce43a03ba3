"""Which rows of many episodes, laid end to end, come before and after which."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ...storage import timeline as storage


class Timeline:
    """Rows of episodes. Before an episode's first row stand copies of it, as a world has them after a reset.

    Args:
        starts: (E + 1,) where each episode starts, and the end.
        episodes: numbers of the episodes to learn from.
    """

    def __init__(self, starts: np.ndarray, episodes: np.ndarray) -> None:
        self._rows = storage.Timeline(np.diff(starts))
        self._chosen = np.isin(self._rows.episode_of, episodes)

    def rows_with_next(self, count: int = 1) -> np.ndarray:
        """Rows to learn from after which at least `count` more follow in the same episode."""
        rows = np.flatnonzero(self._chosen)
        return rows[self._rows.last(rows) - rows >= count]

    def has_next(self, rows: np.ndarray) -> np.ndarray:
        """Whether another row of the same episode follows."""
        after: np.ndarray = rows < self._rows.last(rows)
        return after

    def first(self, rows: np.ndarray) -> np.ndarray:
        """The first row of the episode of each row."""
        first: np.ndarray = self._rows.first(rows)
        return first

    def rows_left(self, rows: np.ndarray) -> np.ndarray:
        """How many rows of the same episode follow each."""
        left: np.ndarray = self._rows.last(rows) - rows
        return left

    def is_first(self, rows: np.ndarray) -> np.ndarray:
        """Whether these are first rows of episodes."""
        return self.first(rows) == rows

    def window(self, rows: np.ndarray, length: int) -> Tensor:
        """(B, length) int64: the rows up to and with each of `rows` (B,)."""
        return torch.from_numpy(self._rows.window(rows, range(1 - length, 1))[0])
