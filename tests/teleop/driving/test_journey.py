import numpy as np
import pytest

from demoloom.generators.testing import CountingWorld
from demoloom.storage import ConfigError
from demoloom.teleop.driving.journey import Journey

from .one_way import ForgetfulWorld, OneWayWorld


def added(journey: Journey, *amounts: float) -> None:
    for amount in amounts:
        journey.step(np.array([amount]))


@pytest.mark.parametrize("world", [CountingWorld, OneWayWorld])
def test_a_world_goes_on_from_an_earlier_step_as_if_nothing_had_come_after(world) -> None:
    journey = Journey(world(1), seed=3)
    added(journey, 1, 1, 1)
    journey.back_to(1)
    assert journey.present.state.tolist() == [4]
    added(journey, -1)
    assert journey.present.state.tolist() == [3]
    assert [float(passage.action[0]) for passage in journey.passages] == [1, -1]


def test_a_row_holds_what_was_seen_before_the_action_and_what_came_of_it() -> None:
    journey = Journey(CountingWorld(1), seed=0)
    added(journey, 1, 0.5)
    rows = journey.rows(0, 2)
    assert rows.state[:, 0].tolist() == [0, 1]
    assert rows.images["top"][:, 0, 0, 0].tolist() == [0, 8]
    assert rows.labels["count"][:, 0].tolist() == [0, 1]
    assert rows.action[:, 0].tolist() == [1, 0.5]
    assert rows.score.tolist() == [1 / 8, 1.5 / 8]


def test_the_action_that_is_recorded_is_the_one_that_was_applied() -> None:
    journey = Journey(CountingWorld(1), seed=0)
    added(journey, 7)
    assert journey.rows(0, 1).action.tolist() == [[1]]


def test_an_action_that_is_no_number_is_refused_and_nothing_happens() -> None:
    journey = Journey(CountingWorld(1), seed=0)
    with pytest.raises(ValueError, match="add"):
        added(journey, np.nan)
    assert journey.step_number == 0


def test_only_the_last_moments_are_remembered() -> None:
    journey = Journey(CountingWorld(1), seed=0, memory=3)
    added(journey, *[0.1] * 10)
    assert (journey.oldest, journey.step_number) == (8, 10)
    with pytest.raises(ConfigError, match="steps 8 to 10 are remembered"):
        journey.back_to(7)


def test_all_moments_of_a_take_are_remembered() -> None:
    journey = Journey(CountingWorld(1), seed=0, memory=3)
    added(journey, 0.1, 0.1)
    journey.keep_from(2)
    added(journey, *[0.1] * 10)
    assert journey.oldest == 2
    assert len(journey.rows(2, 12)) == 10


def test_a_world_that_does_not_repeat_itself_is_noticed() -> None:
    journey = Journey(ForgetfulWorld(1), seed=0)
    added(journey, 1, 1)
    with pytest.raises(ConfigError, match="did not repeat itself"):
        journey.back_to(1)


def test_a_world_of_several_slots_is_refused() -> None:
    with pytest.raises(ConfigError, match="this one has 2"):
        Journey(CountingWorld(2), seed=0)
