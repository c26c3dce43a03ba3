"""When the next step is due: by absolute deadlines, so that small delays do not add up, and never in a burst."""

from __future__ import annotations

from collections import deque

#: Seconds over which the rate is averaged.
_WINDOW_S = 2.0


class Pace:
    """Deadlines of steps, `fps` a second.

    A step that begins more than a period late counts as late, and the next is due a full period after it: the world
    was slow, and to hurry after it would only make it jump.

    Args:
        fps: steps a second.
        now: seconds, of whatever clock is told later.
    """

    def __init__(self, fps: float, now: float) -> None:
        self.period_s = 1 / fps
        self.num_late = 0
        self._due = now + self.period_s
        self._begun: deque[float] = deque()

    def wait_s(self, now: float) -> float:
        """Seconds until the next step is due; 0 if it is."""
        return max(0.0, self._due - now)

    def begin(self, now: float) -> None:
        """A step begins now."""
        late = now - self._due > self.period_s
        self.num_late += late
        self._due = now + self.period_s if late else self._due + self.period_s
        self._begun.append(now)
        while now - self._begun[0] > _WINDOW_S:
            self._begun.popleft()

    def rest(self, now: float) -> None:
        """The world stands still: nothing is late, and the next step is due a period from now."""
        self._due = now + self.period_s
        self._begun.clear()

    def rate(self) -> float:
        """Steps a second of late; 0 where there are none to count."""
        lasted = self._begun[-1] - self._begun[0] if len(self._begun) > 1 else 0.0
        return (len(self._begun) - 1) / lasted if lasted > 0 else 0.0
