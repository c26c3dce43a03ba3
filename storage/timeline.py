"""Rows of many episodes laid end to end: which belong together, and which a window of them holds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np


class Timeline:
    """N rows of E episodes.

    Args:
        lengths: (E,) rows of each episode.
    """

    def __init__(self, lengths: Sequence[int] | np.ndarray) -> None:
        self.lengths = np.asarray(lengths, np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        """(E + 1,) int64: where each episode starts, and the end."""

    def __len__(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def episode_of(self) -> np.ndarray:
        """(N,) int64: the number of the episode each row belongs to."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def first(self, rows: np.ndarray) -> np.ndarray:
        """The first row of the episode each row belongs to."""
        first: np.ndarray = self.starts[self.episode_of[rows]]
        return first

    def last(self, rows: np.ndarray) -> np.ndarray:
        """The last row of the episode each row belongs to."""
        last: np.ndarray = self.starts[self.episode_of[rows] + 1] - 1
        return last

    def rows(self, episodes: np.ndarray) -> np.ndarray:
        """All rows of these episodes, in order."""
        return np.concatenate([np.arange(0), *(np.arange(*self.starts[e : e + 2]) for e in episodes)])

    def window(self, rows: np.ndarray, deltas: Sequence[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows at `deltas` from each of `rows`, as LeRobot's delta timestamps choose them.

        Args:
            rows: (B,) int.
            deltas: (D,) int, in rows.

        Returns:
            (B, D) int64 rows, held at the first or last of the episode, and (B, D) bool, true where they were.
        """
        wanted = rows[:, None] + np.asarray(deltas)
        held = np.clip(wanted, self.first(rows)[:, None], self.last(rows)[:, None])
        return held, held != wanted
