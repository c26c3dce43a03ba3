import dataclasses

import pytest

from demoloom.generators.supply import Demonstrations, Fixed
from demoloom.generators.worker import failed
from demoloom.storage.errors import FleetError


@pytest.fixture
def became(counting_plan):
    """Makes the summary of an index with an outcome."""

    def make(index, outcome="success"):
        reason = "" if outcome == "success" else "not solved within 12 steps"
        return dataclasses.replace(failed(counting_plan(), index, reason), outcome=outcome)

    return make


def drain(supply, num_workers):
    return list(iter(lambda: supply.take(num_workers), []))


def test_fixed_indices_are_each_handed_out_once_in_equal_calls(counting_plan):
    assert drain(Fixed(counting_plan(num_slots=16), range(200), []), 2) == [
        list(range(i, i + 50)) for i in (0, 50, 100, 150)
    ]


def test_what_is_held_is_not_handed_out(counting_plan, became):
    supply = Fixed(counting_plan(), [0, 1, 2, 3], [became(1), became(3)])
    assert drain(supply, 2) == [[0], [2]]
    assert not supply.done
    supply.settle(became(0))
    supply.settle(became(2))
    assert supply.done
    assert [summary.index for summary in supply.summaries()] == [0, 1, 2, 3]


def test_a_success_out_of_turn_waits_for_the_attempts_before_it(counting_plan, became):
    supply = Demonstrations(counting_plan(), 2, 10, [])
    supply.take(1)
    for summary in (became(3), became(2), became(1)):
        supply.settle(summary)
    assert not supply.done
    supply.settle(became(0, "failure"))
    assert supply.done
    assert [(s.index, s.outcome) for s in supply.summaries()] == [(0, "failure"), (1, "success"), (2, "success")]


def test_no_more_is_handed_out_than_it_will_take(counting_plan, became):
    supply = Demonstrations(counting_plan(num_slots=16), 4, 1000, [])
    assert sum(len(taken) for taken in drain(supply, 2)) == 4


def test_nothing_is_handed_out_while_enough_wait_for_one_before_them(counting_plan, became):
    supply = Demonstrations(counting_plan(num_slots=16), 2, 1000, [])
    supply.take(1)
    for summary in (became(1), became(2), became(3), became(4, "failure")):
        supply.settle(summary)
    assert not supply.done
    assert supply.take(1) == []


def test_attempts_are_added_for_those_that_will_fail(counting_plan, became):
    held = [became(index, "success" if index % 2 else "failure") for index in range(7)]
    supply = Demonstrations(counting_plan(num_slots=16), 5, 1000, held)
    # 3 of 7 became demonstrations, (3 + 1) / (7 + 1) is one half: 2 more take 4 attempts, and 4 for bad luck.
    assert sum(len(taken) for taken in drain(supply, 2)) == 8


def test_more_is_handed_out_as_long_as_it_is_not_enough(counting_plan, became):
    supply = Demonstrations(counting_plan(), 1, 30, [])
    while not supply.done:
        for index in supply.take(2):
            supply.settle(became(index, "failure"))
    with pytest.raises(
        FleetError, match=r"0 of 30 attempts .* 1 were asked for; most often: not solved within 12 steps"
    ):
        supply.summaries()


def test_held_attempts_count(counting_plan, became):
    supply = Demonstrations(counting_plan(), 2, 10, [became(0), became(1)])
    assert supply.done
    assert supply.standing() == (2, 2, "2 of 2 attempts are demonstrations")
