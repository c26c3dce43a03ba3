"""Which rows of many episodes, laid end to end, come before and after which."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


class Timeline:
    """Rows of episodes. Before an episode's first row stand copies of it, as a world has them after a reset.

    Args:
        starts: (E + 1,) where each episode starts, and the end.
        episodes: numbers of the episodes to learn from.
    """

    def __init__(self, starts: np.ndarray, episodes: np.ndarray) -> None:
        lengths = np.diff(starts)
        self._first, self._end = np.repeat(starts[:-1], lengths), np.repeat(starts[1:], lengths)
        self._chosen = np.isin(np.repeat(np.arange(len(lengths)), lengths), episodes)

    def rows_with_next(self, count: int = 1) -> np.ndarray:
        """Rows to learn from after which at least `count` more follow in the same episode."""
        left = self._end - np.arange(len(self._end)) - 1
        return np.flatnonzero(self._chosen & (left >= count))

    def has_next(self, rows: np.ndarray) -> np.ndarray:
        """Whether another row of the same episode follows."""
        after: np.ndarray = rows + 1 < self._end[rows]
        return after

    def is_first(self, rows: np.ndarray) -> np.ndarray:
        """Whether these are first rows of episodes."""
        first: np.ndarray = self._first[rows] == rows
        return first

    def window(self, rows: np.ndarray, length: int) -> Tensor:
        """(B, length) int64: the rows up to and with each of `rows` (B,)."""
        back = np.arange(1 - length, 1)
        return torch.from_numpy(np.maximum(rows[:, None] + back, self._first[rows][:, None]))
