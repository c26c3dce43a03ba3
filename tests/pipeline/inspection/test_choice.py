from __future__ import annotations

import pytest

from demoloom.pipeline.inspection.choice import shown_episodes, spread_first
from demoloom.storage import ConfigError, summarise

from ..runs import dot_episode


def chosen(outcomes: str, most: int) -> list[int]:
    """Numbers of those shown of episodes with these outcomes: s for success, f for failure, u for untrusted."""
    names = {"s": "success", "f": "failure", "u": "untrusted"}
    reason = {"s": "", "f": "late", "u": "odd"}
    episodes = [dot_episode(i, 2, names[one], reason[one]) for i, one in enumerate(outcomes)]
    return [one.index for one in shown_episodes([summarise(episode) for episode in episodes], most)]


def test_rare_outcomes_are_shown_as_often_as_frequent_ones() -> None:
    assert chosen("ssssfsssfs", 4) == [0, 4, 8, 9]


def test_what_a_rare_outcome_leaves_goes_to_the_others() -> None:
    assert chosen("sssssfsssss", 4) == [0, 4, 5, 10]


@pytest.mark.parametrize("most", [0, 3, 99])
def test_all_are_shown_when_they_fit_and_when_asked_for(most: int) -> None:
    assert chosen("sfu", most) == [0, 1, 2]


def test_fewer_than_there_are_outcomes_can_be_shown() -> None:
    assert len(chosen("sssuuf", 2)) == 2


def test_a_negative_number_is_named() -> None:
    with pytest.raises(ConfigError, match="of episodes to show must be 0 or more, got -1"):
        chosen("sf", -1)


def test_every_beginning_of_the_order_is_spread() -> None:
    assert spread_first(8) == [0, 4, 2, 6, 1, 5, 3, 7]
    assert spread_first(5) == [0, 4, 2, 1, 3]
    assert spread_first(1) == [0]
    assert spread_first(0) == []
