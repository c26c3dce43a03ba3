"""A fleet's figures in the events of a run folder, for whoever looks later or from another machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from ..generators.fleet.watch import FleetStatus
from .interval import Interval
from .run_folder import RunFolder

INTERVAL_S = 10.0


class FleetEvents:
    """A watch that records a fleet each ten seconds, in a long run less and less often.

    Args:
        folder: in whose `events.jsonl`.
        stage: at which the fleet works.
        interval: when to record; None: as said above.
    """

    def __init__(self, folder: RunFolder, stage: str, interval: Interval | None = None) -> None:
        self._folder, self._stage = folder, stage
        self._interval = interval or Interval(INTERVAL_S)
        self._last: FleetStatus | None = None

    def __call__(self, done: int, total: int, message: str) -> None:
        """What is no fleet is not recorded."""

    def fleet(self, status: FleetStatus) -> None:
        """See Watch."""
        self._last = status
        if self._interval.is_over():
            self.flush()

    def flush(self) -> None:
        """Record the last status, if it is not recorded yet."""
        if self._last is not None:
            self._folder.record(stage=self._stage, event="fleet", **_rounded(asdict(self._last)))
            self._last = None


@contextmanager
def fleet_events(folder: RunFolder, stage: str) -> Iterator[FleetEvents]:
    """A FleetEvents whose last status is recorded when the block ends, however it does."""
    events = FleetEvents(folder, stage)
    try:
        yield events
    finally:
        events.flush()


def _rounded(value: Any) -> Any:
    """Floats with one decimal: a log needs no more."""
    if isinstance(value, dict):
        return {name: _rounded(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(entry) for entry in value]
    return round(value, 1) if isinstance(value, float) else value
