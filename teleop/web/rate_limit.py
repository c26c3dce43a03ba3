"""How many messages one page may send."""

from __future__ import annotations

#: Messages a second, and how many may come at once after a silence.
RATE, BURST = 200.0, 400.0


class RateLimit:
    """A bucket that fills with `RATE` a second up to `BURST`, out of which each message takes one.

    Args:
        now: seconds, of whatever clock is told later.
    """

    def __init__(self, now: float) -> None:
        self.num_refused = 0
        self._left, self._filled_at = BURST, now

    def allows(self, now: float) -> bool:
        """Whether one more message may come now."""
        self._left = min(BURST, self._left + (now - self._filled_at) * RATE)
        self._filled_at = now
        if self._left < 1:
            self.num_refused += 1
            return False
        self._left -= 1
        return True
