"""Whatever ends workers, and whenever: exactly the episodes asked for, none twice, none torn."""

import pytest

from demoloom.generators.fleet import FleetConfig, lost_and_redone, run_episodes
from demoloom.generators.fleet.worker import Worker
from demoloom.storage.dataset import open_dataset
from demoloom.storage.validation import validate_episode

from .own_workers import Chaos
from .stored import contents

pytestmark = pytest.mark.usefixtures("ray_open")


@pytest.mark.slow
def test_workers_killed_at_random_moments_leave_the_bytes_of_a_calm_run(counting_plan, tmp_path):
    plan = counting_plan(fault={"fault": "dawdle"})
    told: list[str] = []
    with Chaos(num_kills=5) as chaos:
        summaries = run_episodes(
            plan,
            range(40),
            tmp_path / "stormy",
            config=FleetConfig(num_workers=2, max_tries=10),
            progress=lambda done, total, message: told.append(message),
        )
    Worker(plan, tmp_path / "calm", 3).run(range(40))
    assert chaos.killed
    assert [summary.index for summary in summaries] == list(range(40))
    assert contents(tmp_path / "stormy") == contents(tmp_path / "calm")
    for episode in open_dataset(tmp_path / "stormy"):
        validate_episode(episode, open_dataset(tmp_path / "stormy").spec)
    assert any("lost; the last because its worker died" in message for message in told)
    rows = lost_and_redone(tmp_path / "stormy")
    assert {row["became"] for row in rows} <= {"made again"}


def test_an_episode_that_was_stored_before_its_worker_died_is_there_once(counting_plan, tmp_path):
    # With one slot index 1 begins when 0 has ended; it hangs, and the worker is killed before its call returns.
    hanging = {"fault": "hang", "once": str(tmp_path / "struck"), "seeds": [counting_plan().episode_seed(1)]}
    plan = counting_plan(fault=hanging, num_slots=1)
    config = FleetConfig(num_workers=1, timeout_s=3)
    summaries = run_episodes(plan, range(3), tmp_path / "store", config=config)
    assert [summary.index for summary in summaries] == [0, 1, 2]
    assert [summary.index for summary in open_dataset(tmp_path / "store").summaries()] == [0, 1, 2]
    assert [(row["index"], row["times"], row["became"]) for row in lost_and_redone(tmp_path / "store")] == [
        (1, 1, "made again"),
        (2, 1, "made again"),
    ]


def test_four_workers_share_ten_episodes_by_the_seeds_of_one(counting_plan, tmp_path):
    run_episodes(counting_plan(), range(10), tmp_path / "four", config=FleetConfig(num_workers=4))
    Worker(counting_plan(), tmp_path / "one", 3).run(range(10))
    assert len({summary.seed for summary in open_dataset(tmp_path / "four").summaries()}) == 10
    assert contents(tmp_path / "four") == contents(tmp_path / "one")
