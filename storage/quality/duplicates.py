"""How far each episode is from the most similar other one.

Two paths are compared at equal shares of their duration (lock-step Euclidean distance after resampling, see Su et al.
2020, "A survey of trajectory distance measures and performance evaluation", VLDB Journal 29). Dynamic time warping
forgives more but costs T^2 for each of N^2 pairs. At a hundred dimensions no search tree beats comparing all with
all, a matrix product: 10,000 episodes take seconds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Rows of the distance matrix in memory at once, times its columns.
_BLOCK_ENTRIES = 4 << 20

#: What a lone episode is from the nearest other: the root mean square of a whole range in every dimension.
FARTHEST = 1.0


@dataclass(frozen=True)
class Nearest:
    """For each of N episodes the nearest other: distance (N,) float64 and number (N,) int64, -1 where there is none."""

    distance: np.ndarray
    number: np.ndarray


def resample(path: np.ndarray, num_points: int) -> np.ndarray:
    """A path (T, D) at `num_points` equally spaced moments from its first to its last row, linear between rows."""
    position = np.linspace(0, len(path) - 1, num_points)
    lower = position.astype(int)
    upper = np.minimum(lower + 1, len(path) - 1)
    weight = (position - lower)[:, None]
    return path[lower] * (1 - weight) + path[upper] * weight


def nearest_other(paths: np.ndarray, *, earlier: bool = False) -> Nearest:
    """The nearest other episode of each, or with `earlier` the nearest of those before it.

    Args:
        paths: (N, P, D) resampled paths; a distance is the root mean square over P and D, in ranges.
        earlier: of a set of copies the first then has a distance like any other, and can be kept.
    """
    flat = paths.reshape(len(paths), -1) / np.sqrt(max(1, paths[0].size))
    flat = flat - flat.mean(0)
    squares = (flat**2).sum(1)
    number = np.full(len(flat), -1)
    step = max(1, _BLOCK_ENTRIES // len(flat))
    for start in range(0, len(flat), step):
        rows = np.arange(start, min(start + step, len(flat)))
        # Squared distances but for a constant of each row.
        off = squares - 2 * flat[rows] @ flat.T
        off[(np.arange(len(flat)) >= rows[:, None]) if earlier else (np.arange(len(flat)) == rows[:, None])] = np.inf
        best = off.argmin(1)
        number[rows] = np.where(np.isfinite(off[np.arange(len(rows)), best]), best, -1)
    # Anew from the pair itself: of the expanded square little is left where two are nearly the same.
    distance = np.where(number >= 0, np.linalg.norm(flat - flat[number], axis=1), FARTHEST)
    return Nearest(distance, number)
