"""How often to say how far long work is, so that a run of days says not much more than a run of an hour."""

from __future__ import annotations

import time
from collections.abc import Callable


class Interval:
    """Is over each `least_s` seconds, and from a hundred times as long on each hundredth of the time so far.

    What is written at each end grows with the logarithm of the time: 100 lines in the first hundred intervals, and
    230 more for each ten times as long.
    """

    def __init__(self, least_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._least_s, self._clock = least_s, clock
        self._began = self._last = clock()

    def is_over(self) -> bool:
        """Whether it is over; if so the next begins."""
        now = self._clock()
        if now - self._last < max(self._least_s, (now - self._began) / 100):
            return False
        self._last = now
        return True
