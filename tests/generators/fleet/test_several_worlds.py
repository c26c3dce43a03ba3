import dataclasses

import pytest

from demoloom.generators.fleet import FleetConfig, run_episodes
from demoloom.generators.fleet.several_worlds import as_turns, distinct, plan_of
from demoloom.generators.fleet.worker import Worker
from demoloom.storage.errors import ConfigError

from .stored import contents


def test_plans_take_turns_and_one_named_twice_makes_twice_as_many(counting_plan):
    easy, hard = counting_plan(goal=6), counting_plan(goal=9)
    turns = as_turns([easy, counting_plan(goal=6), hard])
    assert [plan_of(turns, index).world.kwargs["goal"] for index in range(6)] == [6, 6, 9, 6, 6, 9]
    assert distinct(turns) == [easy, hard]
    assert turns[1] is turns[0]


def test_one_plan_makes_all(counting_plan):
    plan = counting_plan()
    assert plan_of(as_turns([plan]), 17) is plan


def test_plans_of_other_run_seeds_are_refused(counting_plan):
    with pytest.raises(ConfigError, match="must share their run_seed, got 7, 8"):
        as_turns([counting_plan(), dataclasses.replace(counting_plan(), run_seed=8)])


def test_no_plan_is_refused():
    with pytest.raises(ConfigError, match="at least one plan"):
        as_turns([])


@pytest.mark.usefixtures("ray_open")
@pytest.mark.parametrize("num_workers", [1, 2])
def test_each_world_makes_of_its_turns_what_it_makes_alone(counting_plan, tmp_path, num_workers):
    easy, hard = counting_plan(goal=6), counting_plan(goal=9)
    summaries = run_episodes([easy, hard], range(8), tmp_path / "both", config=FleetConfig(num_workers=num_workers))
    assert [summary.index for summary in summaries] == list(range(8))
    for start, plan in enumerate((easy, hard)):
        Worker(plan, tmp_path / "alone" / str(start), 3).run(range(start, 8, 2))
        assert contents(tmp_path / "alone" / str(start)) == contents(tmp_path / "both")[start::2]
