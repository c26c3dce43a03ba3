from __future__ import annotations

from demoloom.generators.fleet.watch import FleetStatus
from demoloom.pipeline.watchers import Watchers

from .statuses import fleet_status


class Notes:
    def __init__(self) -> None:
        self.heard: list[object] = []

    def __call__(self, done: int, total: int, message: str) -> None:
        self.heard.append((done, total, message))

    def fleet(self, status: FleetStatus) -> None:
        self.heard.append(status)


def test_all_hear_of_progress_and_watches_of_the_fleet_too() -> None:
    watch, plain = Notes(), list[object]()
    watchers = Watchers(watch, lambda *at: plain.append(at))
    watchers(1, 2, "half")
    watchers.fleet(fleet_status())
    assert watch.heard == [(1, 2, "half"), fleet_status()]
    assert plain == [(1, 2, "half")]
