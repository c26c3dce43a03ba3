"""What a device says now: the latest of its reports, for as long as it can be believed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..axis_map import Axes
from .families import Family
from .state import AT_REST, DeviceState


@dataclass(frozen=True)
class Reading:
    """A device at one moment.

    Args:
        axes: deflections by the names in `AXES`; none where the device is gone or has been silent too long.
        buttons: names of those that are held.
        presses: how often each button has gone down since the last reading, however short it was held.
        connected: whether the device is there.
        message: why it is not, or "".
        age_s: seconds since the last report that was understood, or None before the first.
        num_reports: understood since the device was first opened.
        num_ignored: not understood since then.
    """

    axes: Axes = field(default_factory=dict)
    buttons: frozenset[str] = frozenset()
    presses: Mapping[str, int] = field(default_factory=dict)
    connected: bool = False
    message: str = ""
    age_s: float | None = None
    num_reports: int = 0
    num_ignored: int = 0


class Track:
    """Keeps the latest state of one device; one thread writes, another reads.

    Times are seconds of any clock that only goes forward.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._family: Family | None = None
        self._state = AT_REST
        self._message = "not opened yet"
        self._presses: Counter[str] = Counter()
        self._last_s: float | None = None
        self._num_reports = self._num_ignored = 0

    @property
    def state(self) -> DeviceState:
        """What the reports have said so far."""
        with self._lock:
            return self._state

    def found(self, family: Family) -> None:
        """A device is open; it is at rest until it says otherwise."""
        with self._lock:
            self._family, self._state, self._message = family, AT_REST, ""

    def lost(self, message: str) -> None:
        """The device is gone: whatever it held is let go."""
        with self._lock:
            self._family, self._state, self._message = None, AT_REST, message

    def report(self, state: DeviceState | None, now_s: float) -> None:
        """A report has come, after which the state is `state`; None: it was not understood."""
        with self._lock:
            if state is None:
                self._num_ignored += 1
                return
            self._presses.update(state.buttons - self._state.buttons)
            self._state, self._last_s, self._num_reports = state, now_s, self._num_reports + 1

    def latest(self, now_s: float) -> Reading:
        """The device now; presses are counted from here on."""
        with self._lock:
            presses, self._presses = dict(self._presses), Counter()
            age_s = None if self._last_s is None else now_s - self._last_s
            silent = self._family and self._family.stale_s is not None and age_s and age_s > self._family.stale_s
            # A SpaceMouse says once that a button is held; a pad says so again and again.
            let_go = silent and self._family and self._family.is_pad
            return Reading(
                axes={} if silent else self._state.axes,
                buttons=frozenset() if let_go else self._state.buttons,
                presses=presses,
                connected=self._family is not None,
                message=self._message,
                age_s=age_s,
                num_reports=self._num_reports,
                num_ignored=self._num_ignored,
            )
