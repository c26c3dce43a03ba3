"""What a person's hand does as the page last said it, and for how long that counts."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..keys import keys_to_axes
from .messages import Input

#: What is older counts as let go: a page says what is held ten times a second.
STALE_S = 0.25


@dataclass(frozen=True)
class Held:
    """What is held at a moment; `seq` and `t_ms` are of the input that says so, None before the first."""

    axes: Mapping[str, float] = field(default_factory=dict)
    pointer: tuple[float, float] | None = None
    seq: int | None = None
    t_ms: float | None = None


class Hand:
    """The latest input of a page; any thread may write and read it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._input: Input | None = None
        self._heard_at = 0.0

    def hear(self, said: Input, now: float) -> bool:
        """Take an input that arrived at `now` (seconds); false if a later one was heard before."""
        with self._lock:
            if self._input is not None and said.seq <= self._input.seq:
                return False
            self._input, self._heard_at = said, now
            return True

    def forget(self) -> None:
        """Let go; the next input may count from anywhere, as that of another page does."""
        with self._lock:
            self._input = None

    def held(self, now: float) -> Held:
        """What is held at `now`: nothing if the last input is too old."""
        with self._lock:
            said, age = self._input, now - self._heard_at
        if said is None:
            return Held()
        if age > STALE_S:
            return Held(seq=said.seq, t_ms=said.t)
        return Held({**keys_to_axes(said.keys), **_deflected(said)}, said.pointer, said.seq, said.t)

    def silent_s(self, now: float) -> float:
        """Seconds since the last input; 0 before the first."""
        with self._lock:
            return 0.0 if self._input is None else now - self._heard_at


def _deflected(said: Input) -> Mapping[str, float]:
    """The stick's axes that are off rest: a stick at rest does not stop the keys."""
    return {axis: value for axis, value in (said.axes or {}).items() if value}
