from __future__ import annotations

import dataclasses

import pytest

from demoloom.generators import RolloutPlan, rollout
from demoloom.generators.testing import CountingWorld, RandomCounts
from demoloom.storage.episode import Episode
from demoloom.storage.plugins import PluginRef

PLAN = RolloutPlan(
    stage="generate",
    world=PluginRef("worlds", "demoloom.generators.testing:CountingWorld"),
    stream=PluginRef("streams", "demoloom.generators.testing:RandomCounts"),
    run_seed=0,
    max_steps=6,
    num_slots=1,
)


def first_episode(plan: RolloutPlan) -> Episode:
    world = CountingWorld(num_envs=1, goal=30)
    return next(rollout(world, RandomCounts(world.episode_spec), plan, [0]))


def test_an_episode_is_solved_only_if_the_world_says_so() -> None:
    assert first_episode(PLAN).outcome == "failure"


def test_a_success_score_overrides_what_the_world_says() -> None:
    lenient = first_episode(dataclasses.replace(PLAN, success_score=0.0, success_hold=4))
    assert (lenient.outcome, len(lenient)) == ("success", 4)
    assert lenient.success.all()


@pytest.mark.parametrize("score", [None, 0.5])
def test_the_success_score_is_part_of_an_episodes_identity(score: float | None) -> None:
    changed = dataclasses.replace(PLAN, success_score=score)
    assert (changed.episode_id(0) == PLAN.episode_id(0)) == (score is None)
