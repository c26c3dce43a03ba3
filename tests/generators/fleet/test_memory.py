"""Memory of the driver and of a worker while many episodes are made, and of one that takes all there is."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from demoloom.generators.fleet import FleetConfig, run_episodes

from .own_workers import own_workers


def resident_mb(pid):
    """Megabytes of memory that a process holds and shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1000


@pytest.mark.slow
@pytest.mark.usefixtures("ray_open")
def test_neither_driver_nor_worker_grows_with_the_number_of_episodes(counting_plan, tmp_path):
    seen = []

    def look(done, total, message):
        if done in (400, 800):  # after what threads and buffers take once
            seen.append([resident_mb(pid) for pid in (os.getpid(), *own_workers()[:1])])

    run_episodes(
        counting_plan(num_slots=16), range(800), tmp_path / "s", config=FleetConfig(num_workers=1), progress=look
    )
    early, late = seen
    assert len(early) == 2
    # Two megabytes of frames were made in between by each megabyte that is allowed for.
    assert all(after - before < 5 for before, after in zip(early, late, strict=True))


GORGING = """
import json, os, sys
from pathlib import Path
lines = [line.split() for line in Path("/proc/meminfo").read_text().splitlines()]
kib = {name: int(amount) for name, amount, *_ in lines}
taken = 1 - kib["MemAvailable:"] / kib["MemTotal:"]
os.environ["RAY_memory_usage_threshold"] = str(taken + 1.5e6 / kib["MemTotal:"])
from demoloom.generators import RolloutPlan
from demoloom.generators.fleet import FleetConfig, lost_and_redone, run_episodes
store = Path(sys.argv[2])
# Two, as the system may still be taking the memory back when the next worker is judged.
config = FleetConfig(num_workers=1, max_tries=2)
summaries = run_episodes(RolloutPlan.from_dict(json.loads(sys.argv[1])), range(3), store, config=config)
print([summary.outcome for summary in summaries])
print(*(row["cause"] for row in lost_and_redone(store) if row["index"] == 1))
"""


def available_mb():
    line = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    return int(line.split()[1]) / 1000


@pytest.mark.slow
@pytest.mark.skipif(available_mb() < 6000, reason="needs 6 GB of free memory to fill")
def test_a_worker_that_takes_all_memory_is_ended_and_its_episode_given_up_by_name(counting_plan, tmp_path):
    gorging = {"fault": "gorge", "seeds": [counting_plan().episode_seed(1)]}
    plan = counting_plan(fault=gorging, num_slots=1)
    command = [sys.executable, "-c", GORGING, json.dumps(plan.to_dict()), str(tmp_path / "store")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    outcomes, cause = done.stdout.strip().splitlines()[-2:]
    assert outcomes.count("'error'") == 1
    assert "ended for lack of memory" in cause
