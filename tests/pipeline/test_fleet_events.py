"""The figures of a fleet in `events.jsonl`, whatever ends the run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from demoloom.pipeline.fleet_events import FleetEvents, fleet_events
from demoloom.pipeline.interval import Interval
from demoloom.pipeline.run_folder import RunFolder

from .statuses import fleet_status


def test_each_event_is_one_line_with_time_stage_and_all_figures(tmp_path: Path) -> None:
    events = FleetEvents(RunFolder(tmp_path), "generate", Interval(0))
    events.fleet(fleet_status())
    events.fleet(fleet_status(done=38))
    first, second = (json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines())
    assert (first["stage"], first["event"], first["done"], second["done"]) == ("generate", "fleet", 37, 38)
    assert first["time"] == pytest.approx(time.time(), abs=60)
    assert first["frames_per_s"] == 201.0
    assert first["workers"][1] == {"worker": 1, "num_episodes": 11, "num_frames": 1000, "frames_per_s": 101.0}


def test_the_last_figures_are_recorded_however_it_ends(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)

    def work() -> None:
        with fleet_events(folder, "generate") as events:
            for done in range(100):
                events.fleet(fleet_status(done=done))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert [event["done"] for event in folder.events()] == [99]


def test_work_without_a_fleet_leaves_no_events(tmp_path: Path) -> None:
    with fleet_events(RunFolder(tmp_path), "train-world") as events:
        events(1, 2, "")
    assert not (tmp_path / "events.jsonl").exists()


def test_half_a_line_of_a_killed_run_costs_that_line_only(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.record(event="first")
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"time": 1.0, "eve')
    folder.record(event="resumed")
    folder.record(event="last")
    assert [event["event"] for event in folder.events()] == ["first", "resumed", "last"]


WRITER = """
import sys
from pathlib import Path
from demoloom.pipeline.fleet_events import FleetEvents
from demoloom.pipeline.interval import Interval
from demoloom.pipeline.run_folder import RunFolder
sys.path.insert(0, sys.argv[2])
from statuses import fleet_status
events = FleetEvents(RunFolder(Path(sys.argv[1])), "generate", Interval(0))
for done in range(10**9):
    events.fleet(fleet_status(done=done))
    print(done, flush=True)
"""


def test_what_was_recorded_before_a_kill_is_there_and_a_resumed_run_adds_to_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        while int(writer.stdout.readline()) < 20:
            pass
        writer.send_signal(signal.SIGKILL)
    folder = RunFolder(tmp_path)
    before = [event["done"] for event in folder.events()]
    assert before[:21] == list(range(21))
    folder.record(event="resumed")
    assert len(folder.events()) == len(before) + 1


RUN = """
import os, signal, sys
from pathlib import Path
from demoloom.generators.fleet import FleetConfig, StopRules, ray_session, run_until
from demoloom.generators.plan import RolloutPlan
from demoloom.pipeline.line import perform_shown
from demoloom.pipeline.run_folder import RunFolder
from demoloom.pipeline.stage import Stage, stage_digests
from demoloom.storage.plugins import PluginRef

TESTING = "demoloom.generators.testing:"
# A fifth of a second for each episode: a worker goes on for a moment after its driver was killed, but not with all.
world = PluginRef("worlds", TESTING + "FaultyWorld", {"fault": "dawdle"})
stream = PluginRef("streams", TESTING + "RandomCounts", {"low": 1.0, "high": 1.0})
plan, config = RolloutPlan("generate", world, stream, 7, 12, num_slots=1), FleetConfig(num_workers=1)
folder, dies_at = RunFolder(Path(sys.argv[1])), int(sys.argv[2])

def generate(work, progress):
    made = run_until(plan, StopRules(24, 40), work / "episodes", config=config, progress=progress)
    (folder.path / "generated").mkdir()
    return {"ended": made.sentence()}

def die(done, total, message):
    if done == dies_at:
        os.kill(os.getpid(), signal.SIGKILL)

stage = Stage("generate", generate, {}, ("generated",), uses_fleet=True)
with ray_session(config):
    perform_shown(folder, stage, stage_digests([stage])["generate"], quiet=True, also=die)
"""


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on_in_the_same_events_and_ends_with_all_it_was_to_make(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    # Ray's processes outlive a killed driver by a minute or two and would hold a pipe open.
    killed = subprocess.run([*command, "3"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    assert killed.returncode == -signal.SIGKILL
    subprocess.run([*command, "-1"], check=True)
    events = RunFolder(tmp_path).events()
    assert [event["event"] for event in events if event["event"] != "fleet"] == ["started", "started", "done"]
    assert [event["event"] for event in events[-2:]] == ["fleet", "done"]
    last = events[-2]
    assert (last["done"], last["total"]) == (24, 24)
    # What the killed run had made it did not make again.
    assert last["workers"][0]["num_episodes"] <= last["num_attempts"] - 3
