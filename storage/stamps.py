"""When the rows of an episode are due, and which stamps are in time."""

from __future__ import annotations

import numpy as np

#: LeRobot's own default tolerance for a row's time.
TOLERANCE_S = 1e-4
#: LeRobot keeps stamps as float32: what that can tell apart grows with the time.
_ROUNDING = 1e-6


def due_times(count: int, fps: float, start: int = 0) -> np.ndarray:
    """When rows start, start + 1, ... of an episode are due: (count,) float64, seconds."""
    return (start + np.arange(count)) / fps


def in_time(stamps: np.ndarray, due: np.ndarray) -> np.ndarray:
    """Which rows are stamped as they are due, (T,) bool; a stamp that is no number is not in time."""
    return np.asarray(np.abs(stamps - due) <= np.maximum(TOLERANCE_S, due * _ROUNDING))
