from typing import Any

import pytest

from demoloom.policies import evaluation_plan, policy_ref, score
from demoloom.policies.evaluation import bootstrap_interval, wilson_interval
from demoloom.storage.episode import EpisodeSummary
from demoloom.storage.errors import ConfigError
from demoloom.storage.plugins import PluginRef


def summary(outcome: Any, score_max: float) -> EpisodeSummary:
    return EpisodeSummary("e", 0, 0, "task", 5, outcome, "", score_max, 0.0, outcome == "success", 1.0, {})


def test_wilson_agrees_with_the_published_example() -> None:
    # Newcombe (1998), table I: 81 of 263.
    interval = wilson_interval(81, 263)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


def test_no_success_in_twenty_still_leaves_room_above_zero() -> None:
    interval = wilson_interval(0, 20)
    assert interval.low == 0
    assert interval.high == pytest.approx(0.161, abs=1e-3)


def test_equal_scores_have_an_interval_of_no_width() -> None:
    assert bootstrap_interval([0.5] * 10).low == bootstrap_interval([0.5] * 10).high == 0.5


def test_the_bootstrap_gives_the_same_interval_each_time() -> None:
    assert bootstrap_interval([0.0, 0.2, 1.0]) == bootstrap_interval([0.0, 0.2, 1.0])


def test_a_score_counts_untrusted_episodes_as_unsolved() -> None:
    found = score("p", [summary("success", 1.0), summary("untrusted", 0.5), summary("failure", 0.0)])
    assert (found.num_episodes, found.num_successes, found.num_untrusted) == (3, 1, 1)
    assert found.success_rate.value == pytest.approx(1 / 3)
    assert found.max_score.value == pytest.approx(0.5)


def test_a_score_of_nothing_is_refused() -> None:
    with pytest.raises(ConfigError, match="random in reality: a score needs"):
        score("random in reality", [])


def test_every_evaluation_starts_from_the_same_seeds(tmp_path: Any) -> None:
    reality, learned = PluginRef("worlds", "pusht"), PluginRef("worlds", "learned", {"checkpoint": "w"})
    plans = [
        evaluation_plan(reality, policy_ref(tmp_path), run_seed=7, max_steps=9),
        evaluation_plan(reality, PluginRef("streams", "random"), run_seed=7, max_steps=9, num_slots=3),
        evaluation_plan(learned, policy_ref(tmp_path), run_seed=7, max_steps=9, reality=reality),
    ]
    assert len({tuple(plan.episode_seed(index) for index in range(6)) for plan in plans}) == 1
    assert plans[2].start_world == reality
