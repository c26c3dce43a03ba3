import dataclasses

import pytest

from demoloom.generators import episode_seed
from demoloom.generators.fleet import FleetConfig, run_episodes
from demoloom.generators.fleet.meter import Meter, Pace
from demoloom.generators.fleet.stop_rules import StopRules
from demoloom.generators.fleet.stopwatch import Stopwatch
from demoloom.generators.fleet.supply import Demonstrations
from demoloom.generators.fleet.worker import failed
from demoloom.storage.progress import silent


class Clock:
    """Stands where it is set."""

    now = 100.0

    def __call__(self):
        return self.now


class Notes:
    """A watch that keeps all statuses."""

    def __init__(self):
        self.statuses = []

    def __call__(self, done, total, message):
        pass

    def fleet(self, status):
        self.statuses.append(status)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def ended(counting_plan):
    """Makes the summary of an attempt that took so many steps."""

    def make(index, length, outcome="success"):
        return dataclasses.replace(failed(counting_plan(), index, ""), length=length, outcome=outcome)

    return make


@pytest.fixture
def supply(counting_plan):
    return Demonstrations(counting_plan(), StopRules(4, 9), [], Stopwatch())


def test_frames_a_second_are_those_of_the_last_minute(clock):
    pace = Pace(clock)
    clock.now += 30
    pace.count(600)
    assert pace.frames_per_s() == 20  # 600 in the 30 s so far
    clock.now += 50
    pace.count(300)
    assert pace.frames_per_s() == 15  # 900 in 60 s
    clock.now += 20
    assert pace.frames_per_s() == 5  # the first 600 are 70 s old
    assert (pace.num_episodes, pace.num_frames) == (2, 900)


def test_a_pace_that_has_just_begun_is_none(clock):
    assert Pace(clock).frames_per_s() == 0


def test_a_status_counts_by_worker_and_says_how_long_the_rest_takes(clock, supply, ended, tmp_path):
    meter = Meter(silent, supply, tmp_path / "store", num_workers=2, clock=clock)
    assert meter.status().eta_s is None
    clock.now += 20
    for worker, summary in [(0, ended(0, 100)), (1, ended(1, 50, "failure")), (1, ended(3, 50))]:
        supply.settle(summary)
        meter.made(worker, summary)
    status = meter.status()
    assert [(one.worker, one.num_episodes, one.num_frames) for one in status.workers] == [(0, 1, 100), (1, 2, 100)]
    assert [one.frames_per_s for one in status.workers] == [5, 5]
    assert (status.num_frames, status.frames_per_s, status.seconds) == (200, 10, 20)
    # Two of four in 20 s, though attempt 3 counts only once 2 has ended.
    assert (status.done, status.total, status.eta_s) == (2, 4, 20)
    assert (status.num_attempts, status.num_demonstrations) == (3, 2)
    assert status.disk_free > 0


def test_lost_workers_and_what_is_begun_once_more_are_counted(clock, supply, tmp_path):
    meter = Meter(silent, supply, tmp_path, num_workers=1, clock=clock)
    meter.lost(14)
    meter.lost(3)
    assert (meter.status().num_lost, meter.status().num_redone) == (2, 17)


def test_a_watch_is_told_once_a_second_and_at_the_end(clock, supply, tmp_path):
    notes = Notes()
    meter = Meter(notes, supply, tmp_path, num_workers=1, clock=clock)
    for _ in range(30):
        clock.now += 0.1
        meter.tell(1)
    assert len(notes.statuses) == 3
    meter.tell(1, at_once=True)
    assert len(notes.statuses) == 4


def test_the_room_that_episodes_take_is_that_of_those_looked_at(clock, supply, ended, tmp_path):
    notes = Notes()
    meter = Meter(notes, supply, tmp_path, num_workers=1, clock=clock)
    for index, size in enumerate((1000, 3000)):
        summary = ended(index, 12)
        folder = tmp_path / "episodes" / summary.id / "action"
        folder.mkdir(parents=True)
        (folder / "c").write_bytes(bytes(size))
        supply.settle(summary)
        meter.made(0, summary)
        meter.tell(1, at_once=True)
    supply.settle(ended(2, 12))
    meter.tell(1, at_once=True)
    assert [status.disk_used for status in notes.statuses] == [1000, 4000, 6000]


@pytest.mark.usefixtures("ray_open")
def test_a_watch_hears_what_each_worker_makes_and_which_was_lost(counting_plan, tmp_path):
    dying = {"fault": "die", "once": str(tmp_path / "struck"), "seeds": [episode_seed(7, 4)]}
    notes = Notes()
    plan, config = counting_plan(fault=dying), FleetConfig(num_workers=2)
    summaries = run_episodes(plan, range(10), tmp_path / "store", config=config, progress=notes)
    last = notes.statuses[-1]
    assert (last.done, last.total, last.num_attempts) == (10, 10, 10)
    assert last.num_frames == sum(summary.length for summary in summaries)
    assert sum(worker.num_episodes for worker in last.workers) == 10
    assert sum(worker.num_frames for worker in last.workers) == last.num_frames
    assert last.num_lost == 1
    assert last.num_redone >= 1
    assert last.disk_used > 0
    # The driver hears of the first worker that is ready, or at the end of both.
    assert 1 <= last.num_ready <= 2
