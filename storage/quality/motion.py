"""How one episode moves: measures of its state and action alone.

A path is (T, D) float64, each dimension divided by the range of its bounds, so that millimetres and radians count
alike: a length of 1 is the whole range of one dimension.
"""

from __future__ import annotations

import numpy as np

from ..spec import Vector


def normalised(values: np.ndarray, vector: Vector) -> np.ndarray:
    """Values (T, D) of a vector as a path; a dimension whose bounds coincide keeps its own unit."""
    span = np.subtract(vector.high, vector.low)
    return np.asarray(values, np.float64) / np.where(span > 0, span, 1.0)


def path_efficiency(path: np.ndarray) -> float:
    """Distance from first to last row over distance travelled: 1 is a straight line; 0 if it goes nowhere."""
    travelled = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    # At most 1, which the rounding of a sum may exceed.
    return float(min(1.0, np.linalg.norm(path[-1] - path[0]) / travelled)) if travelled > 0 else 0.0


def jerk(path: np.ndarray, fps: int) -> np.ndarray:
    """|third derivative| at each of T - 3 steps, in ranges / s^3, by finite differences; one 0 if T < 4.

    The most used measure of smoothness (Hogan and Sternad 2009, "Sensitivity of smoothness measures to movement
    duration, amplitude, and arrest"), not made dimensionless, so that episodes of one robot compare.
    """
    third = np.diff(path, n=3, axis=0) * float(fps) ** 3
    return np.linalg.norm(third, axis=1) if len(third) else np.zeros(1)


def speed(path: np.ndarray, fps: int) -> np.ndarray:
    """How fast the fastest dimension changes from each row to the next, (T - 1,) in ranges / s."""
    return np.abs(np.diff(path, axis=0)).max(axis=1) * fps


def idle_ends(idle: np.ndarray) -> tuple[int, int]:
    """How many steps before the first and after the last that is not idle; (n, n) if all n are."""
    moving = np.flatnonzero(~idle)
    return (int(moving[0]), len(idle) - 1 - int(moving[-1])) if len(moving) else (len(idle), len(idle))


def saturation(values: np.ndarray, vector: Vector, margin: float) -> float:
    """Share of the values within `margin` of their range from a bound; dimensions without a range do not count."""
    low, high = np.asarray([vector.low, vector.high], np.float64)
    reach = margin * (high - low)
    at_bound = (values <= low + reach) | (values >= high - reach)
    return float(at_bound[:, high > low].mean()) if (high > low).any() else 0.0
