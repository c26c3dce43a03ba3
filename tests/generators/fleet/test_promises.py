"""What a fleet promises, with real Ray actors that really die."""

import json
import signal
import sys

import pytest

from demoloom.generators import episode_seed
from demoloom.generators.fleet import FleetConfig, StopRules, run_episodes, run_until
from demoloom.storage.dataset import open_dataset
from demoloom.storage.errors import FleetError, PluginError
from demoloom.storage.plugins import PluginRef

from .stoppable import started

pytestmark = pytest.mark.usefixtures("ray_open")

TWO = FleetConfig(num_workers=2)


def contents(store):
    """id -> all that a later stage reads of an episode."""
    return {
        episode.id: [episode.outcome, episode.seed]
        + [getattr(episode, name).tobytes() for name in ("action", "state", "score", "trust")]
        + [episode.images["top"].tobytes()]
        for episode in open_dataset(store)
    }


def test_one_worker_and_two_make_the_same_bytes(counting_plan, tmp_path):
    one = run_episodes(counting_plan(), range(10), tmp_path / "one", config=FleetConfig(num_workers=1))
    two = run_episodes(counting_plan(), range(10), tmp_path / "two", config=TWO)
    assert [summary.seed for summary in two] == [episode_seed(7, index) for index in range(10)]
    assert one == two
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_worker_killed_in_the_middle_costs_nothing_but_time(counting_plan, tmp_path):
    dying = {"fault": "die", "once": str(tmp_path / "struck"), "seeds": [episode_seed(7, 4)]}
    summaries = run_episodes(counting_plan(fault=dying), range(10), tmp_path / "hit", config=TWO)
    run_episodes(counting_plan(), range(10), tmp_path / "calm", config=TWO)
    assert (tmp_path / "struck").exists()
    assert [summary.index for summary in summaries] == list(range(10))
    assert list(contents(tmp_path / "hit").values()) == list(contents(tmp_path / "calm").values())


def test_an_episode_that_always_kills_its_worker_is_given_up_by_name(counting_plan, tmp_path):
    plan = counting_plan(fault={"fault": "die", "seeds": [episode_seed(7, 4)]})
    summaries = run_episodes(plan, range(8), tmp_path / "store", config=TWO)
    assert [summary.index for summary in summaries if summary.outcome == "error"] == [4]
    assert summaries[4].reason == "given up: 2 times its worker died with this episode alone in it"
    assert [summary.index for summary in open_dataset(tmp_path / "store").summaries()] == [0, 1, 2, 3, 5, 6, 7]


def test_a_world_that_hangs_is_timed_out_and_its_episode_given_up(counting_plan, tmp_path):
    plan = counting_plan(fault={"fault": "hang", "seeds": [episode_seed(7, 1)]})
    config = FleetConfig(num_workers=2, timeout_s=3, max_tries=1)
    summaries = run_episodes(plan, range(4), tmp_path / "store", config=config)
    assert [summary.index for summary in summaries if summary.outcome == "error"] == [1]
    assert "stored no episode within 3 s" in summaries[1].reason


def test_a_world_that_always_raises_stops_the_run_with_its_exception(counting_plan, tmp_path):
    config = FleetConfig(num_workers=2, max_failures_in_a_row=4)
    with pytest.raises(FleetError, match=r"4 episodes in a row failed.*RuntimeError: the counter broke at step 3"):
        run_episodes(counting_plan(fault={"fault": "raise"}), range(100), tmp_path / "store", config=config)


def test_workers_that_keep_dying_stop_the_run(counting_plan, tmp_path):
    config = FleetConfig(num_workers=1, max_deaths=2)
    with pytest.raises(
        FleetError, match="3 workers were lost with no episode stored in between, at last because its worker died"
    ):
        run_episodes(counting_plan(fault={"fault": "die"}), range(100), tmp_path / "store", config=config)


def test_a_plug_in_that_is_missing_stops_the_run_at_once(counting_plan, tmp_path):
    plan = counting_plan(stream=PluginRef("streams", "no-such-stream"))
    with pytest.raises(PluginError, match="no-such-stream"):
        run_episodes(plan, range(4), tmp_path / "store", config=TWO)


def test_what_is_stored_is_not_made_again(counting_plan, tmp_path):
    run_episodes(counting_plan(), range(4), tmp_path / "store", config=TWO)
    kept = {entry.name: entry.stat().st_mtime_ns for entry in (tmp_path / "store" / "episodes").iterdir()}
    told = []
    summaries = run_episodes(
        counting_plan(), range(6), tmp_path / "store", config=TWO, progress=lambda *at: told.append(at)
    )
    now = {entry.name: entry.stat().st_mtime_ns for entry in (tmp_path / "store" / "episodes").iterdir()}
    assert [summary.index for summary in summaries] == list(range(6))
    assert kept.items() <= now.items()
    assert told == [(5, 6, "5 of 6 episodes"), (6, 6, "6 of 6 episodes")]


def test_the_demonstrations_do_not_depend_on_the_number_of_workers(counting_plan, tmp_path):
    plan = counting_plan(high=1.2, max_steps=10)
    attempts = [
        run_until(plan, StopRules(5, 60), tmp_path / str(workers), config=FleetConfig(num_workers=workers)).summaries
        for workers in (1, 2)
    ]
    assert attempts[0] == attempts[1]
    assert sum(summary.is_demonstration for summary in attempts[0]) == 5
    assert attempts[0][-1].is_demonstration
    assert not all(summary.is_demonstration for summary in attempts[0])


def test_an_expert_that_never_succeeds_ends_before_the_budget_with_the_reason(counting_plan, tmp_path):
    # 5 are to come of 20 at least, which 16 failures leave no room for.
    with pytest.raises(FleetError, match=r"0 of 16 attempts became .* most often: not solved within 12 steps \(16 "):
        run_until(counting_plan(low=-1.0, high=0.0), StopRules(10, 20), tmp_path / "store", config=TWO)
    assert 16 <= len(open_dataset(tmp_path / "store")) <= 20


DRIVER = """
import json, sys
from functools import partial
from pathlib import Path
from demoloom.generators import RolloutPlan
from demoloom.generators.fleet import run_episodes

def tell(done, total, message):
    print(message, flush=True)

try:
    run_episodes(RolloutPlan.from_dict(json.loads(sys.argv[1])), range(400), Path(sys.argv[2]), progress=tell)
except KeyboardInterrupt as interrupt:
    print(interrupt, flush=True)
    sys.exit(130)
"""


def started_driver(plan, store):
    return started([sys.executable, "-c", DRIVER, json.dumps(plan.to_dict()), str(store)])


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_run_whose_driver_is_stopped_goes_on_to_the_exact_count(counting_plan, tmp_path, number):
    plan = counting_plan()
    process = started_driver(plan, tmp_path / "store")
    process.send_signal(number)
    last_words = process.communicate(timeout=60)[0].strip().splitlines()[-1:]
    if number != signal.SIGKILL:
        assert process.returncode == 130
        assert last_words[0].endswith("of 400 episodes; start it again to go on from there")
    held = len(open_dataset(tmp_path / "store"))
    assert 0 < held < 400
    summaries = run_episodes(plan, range(400), tmp_path / "store", config=TWO)
    assert [summary.index for summary in summaries] == list(range(400))
    assert len(open_dataset(tmp_path / "store")) == 400
