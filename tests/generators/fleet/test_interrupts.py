"""A run that is stopped by its user: once lets the episodes under way end, twice does not wait."""

import json
import re
import signal
import sys
import time

import pytest

from demoloom.generators.fleet.worker import Worker
from demoloom.storage.dataset import open_dataset

from .stoppable import started
from .stored import contents

DRIVER = """
import json, sys
from pathlib import Path
from demoloom.generators import RolloutPlan
from demoloom.generators.fleet import FleetConfig, run_episodes

def tell(done, total, message):
    print(message, flush=True)

plan, store, grace_s = RolloutPlan.from_dict(json.loads(sys.argv[1])), Path(sys.argv[2]), float(sys.argv[3])
try:
    run_episodes(plan, range(400), store, config=FleetConfig(num_workers=1, grace_s=grace_s), progress=tell)
except KeyboardInterrupt as interrupt:
    print(interrupt, flush=True)
    sys.exit(130)
"""


def started_driver(plan, store, grace_s):
    return started([sys.executable, "-c", DRIVER, json.dumps(plan.to_dict()), str(store), str(grace_s)])


def until_told(process, words):
    return next(line for line in process.stdout if words in line)


@pytest.mark.slow
def test_ctrl_c_once_lets_the_episodes_under_way_end_and_says_how_to_go_on(counting_plan, tmp_path):
    plan = counting_plan(fault={"fault": "dawdle"}, num_slots=4)
    process = started_driver(plan, tmp_path / "store", grace_s=30)
    process.send_signal(signal.SIGINT)
    assert "stopping once those under way have ended, within 30 s" in until_told(process, "stopping")
    last_words = process.communicate(timeout=60)[0].strip().splitlines()[-1]
    assert process.returncode == 130
    made = [summary.index for summary in open_dataset(tmp_path / "store").summaries()]
    assert last_words == f"stopped with {len(made)} of 400 episodes; start it again to go on from there"
    # Slots are filled in the order of the indices: had one been dropped under way, there would be a gap.
    assert made == list(range(len(made)))
    Worker(plan, tmp_path / "calm", 3).run(made)
    assert contents(tmp_path / "store") == contents(tmp_path / "calm")


@pytest.mark.slow
def test_ctrl_c_twice_does_not_wait_for_a_world_that_hangs(counting_plan, tmp_path):
    hanging = {"fault": "hang", "seeds": [counting_plan().episode_seed(2)]}
    process = started_driver(counting_plan(fault=hanging, num_slots=1), tmp_path / "store", grace_s=600)
    process.send_signal(signal.SIGINT)
    until_told(process, "stopping")
    process.send_signal(signal.SIGINT)
    since = time.monotonic()
    last_words = process.communicate(timeout=60)[0].strip().splitlines()[-1]
    assert process.returncode == 130
    assert time.monotonic() - since < 30
    # The second of the two that ended may not have been stored yet.
    assert re.fullmatch("stopped with [12] of 400 episodes; start it again to go on from there", last_words)
