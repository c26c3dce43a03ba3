"""How the quality scores of one dataset differ from those of another, as distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..quality import QualityTable
from ..quality.table import NUMERIC_SCORES


@dataclass(frozen=True)
class ScoreShift:
    """How the distribution of one score moved.

    Args:
        name: of the score.
        left, right: its median here and there.
        distance: greatest difference of the two cumulative distributions, in [0, 1] (the two-sample statistic of
            Kolmogorov and Smirnov): 0 is the same distribution, 1 two that do not overlap.
    """

    name: str
    left: float
    right: float
    distance: float


def score_shifts(left: QualityTable, right: QualityTable) -> list[ScoreShift]:
    """The scores whose distributions differ, the most different first; none if a dataset has no episode."""
    if not left.episodes or not right.episodes:
        return []
    shifts = [
        ScoreShift(name, float(np.median(a)), float(np.median(b)), distribution_distance(a, b))
        for name, a, b in ((name, _values(left, name), _values(right, name)) for name in NUMERIC_SCORES)
    ]
    return sorted((shift for shift in shifts if shift.distance > 0), key=lambda shift: -shift.distance)


def _values(table: QualityTable, name: str) -> np.ndarray:
    return np.array([getattr(scores, name) for scores in table.episodes.values()], np.float64)


def distribution_distance(left: np.ndarray, right: np.ndarray) -> float:
    """Greatest difference of the cumulative distributions of two samples (Kolmogorov and Smirnov), in [0, 1]."""
    points = np.concatenate([left, right])
    shares = [np.searchsorted(np.sort(sample), points, side="right") / len(sample) for sample in (left, right)]
    return float(np.abs(shares[0] - shares[1]).max())
