"""Statistics of a column that is read once, block by block, in memory that does not grow with it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..norm_stats import QUANTILES


class RunningStats:
    """Moments of (T, D) numbers, and for each claimed quantile how many numbers lie below it.

    An exact quantile would need all numbers at once; whether a claimed one is right needs two counts.

    Args:
        claims: name of a quantile (`q01`, ...) -> (D,), the value that `meta/stats.json` gives.
        tolerance: (D,), how far a claim may be off.
    """

    def __init__(self, claims: Mapping[str, np.ndarray], tolerance: np.ndarray) -> None:
        self.num_dims = len(tolerance)
        self.count = 0
        self.min: np.ndarray = np.array(np.inf)
        self.max: np.ndarray = np.array(-np.inf)
        self.mean: np.ndarray = np.array(0.0)
        self._squares: np.ndarray = np.array(0.0)
        self._claims = {name: (value - tolerance, value + tolerance) for name, value in claims.items()}
        self._ranks = {name: np.zeros((2, self.num_dims), np.int64) for name in claims}

    def update(self, rows: np.ndarray) -> None:
        """Add rows (T, D), at least one; blocks are merged as in Chan, Golub and LeVeque 1979."""
        values = rows.astype(np.float64)
        with np.errstate(invalid="ignore"):  # infinities, which are named elsewhere
            self._update_moments(values)
        for name, (low, high) in self._claims.items():
            self._ranks[name] += np.stack([(values < low).sum(0), (values <= high).sum(0)])

    def _update_moments(self, values: np.ndarray) -> None:
        self.min, self.max = np.minimum(self.min, values.min(0)), np.maximum(self.max, values.max(0))
        total, mean = self.count + len(values), values.mean(0)
        step = mean - self.mean
        self._squares = self._squares + ((values - mean) ** 2).sum(0) + step**2 * (self.count * len(values) / total)
        self.mean = self.mean + step * (len(values) / total)
        self.count = total

    @property
    def std(self) -> np.ndarray:
        """Standard deviation of each dimension."""
        return np.asarray(np.sqrt(self._squares / max(1, self.count)))

    def wrong_quantiles(self) -> dict[str, int]:
        """The claimed quantiles that are wrong, and for each the first dimension in which it is.

        The quantile q of n numbers lies between those of ranks floor(q (n - 1)) and the next.
        """
        found = {}
        for name, (below, upto) in self._ranks.items():
            lower = int(QUANTILES[name] * (self.count - 1))
            wrong = np.flatnonzero((below > min(lower + 1, self.count - 1)) | (upto <= lower))
            if len(wrong):
                found[name] = int(wrong[0])
        return found
