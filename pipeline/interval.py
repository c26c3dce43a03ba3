"""How often to say how far long work is, so that a run of days says not much more than a run of an hour."""

from __future__ import annotations

import time
from collections.abc import Callable


class Interval:
    """Is over each `least_s` seconds; after a hundred times each lasts a hundredth longer than the one before.

    So the number of its ends grows with the logarithm of the time: some 230 more for each ten times as long.
    """

    def __init__(self, least_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._lasts_s, self._clock = least_s, clock
        self._last = clock()
        self._num_ends = 0

    def is_over(self) -> bool:
        """Whether it is over; if so the next begins."""
        now = self._clock()
        if now - self._last < self._lasts_s:
            return False
        self._last = now
        self._num_ends += 1
        self._lasts_s *= 1.01 if self._num_ends >= 100 else 1
        return True
