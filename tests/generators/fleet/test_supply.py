import dataclasses

import pytest

from demoloom.generators.fleet.stop_rules import StopRules
from demoloom.generators.fleet.stopwatch import Stopwatch
from demoloom.generators.fleet.supply import Demonstrations, Fixed
from demoloom.generators.fleet.worker import failed
from demoloom.storage.errors import FleetError


@pytest.fixture
def became(counting_plan):
    """Makes the summary of an index with an outcome."""

    def make(index, outcome="success"):
        reason = "" if outcome == "success" else "not solved within 12 steps"
        return dataclasses.replace(failed(counting_plan(), index, reason), outcome=outcome)

    return make


def until(plan, rules, held=(), stopwatch=None):
    return Demonstrations(plan, rules, held, stopwatch or Stopwatch())


def drain(supply, num_workers):
    return list(iter(lambda: supply.take(num_workers), []))


def test_fixed_indices_are_each_handed_out_once_in_equal_calls(counting_plan):
    # 7 batches of 2 x 16 slots hold 200.
    assert drain(Fixed(counting_plan(num_slots=16), range(200), []), 2) == [
        list(range(200))[i : i + 15] for i in range(0, 200, 15)
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
    supply = until(counting_plan(), StopRules(2, 10), [])
    supply.take(1)
    for summary in (became(3), became(2), became(1)):
        supply.settle(summary)
    assert not supply.done
    supply.settle(became(0, "failure"))
    assert supply.done
    assert [(s.index, s.outcome) for s in supply.attempts().summaries] == [
        (0, "failure"),
        (1, "success"),
        (2, "success"),
    ]


def test_no_more_is_handed_out_than_it_will_take(counting_plan, became):
    supply = until(counting_plan(num_slots=16), StopRules(4, 1000), [])
    assert sum(len(taken) for taken in drain(supply, 2)) == 4


def test_nothing_is_handed_out_while_enough_wait_for_one_before_them(counting_plan, became):
    supply = until(counting_plan(num_slots=16), StopRules(2, 1000), [])
    supply.take(1)
    for summary in (became(1), became(2), became(3), became(4, "failure")):
        supply.settle(summary)
    assert not supply.done
    assert supply.take(1) == []


def test_attempts_are_added_for_those_that_will_fail(counting_plan, became):
    held = [became(index, "success" if index % 2 else "failure") for index in range(7)]
    supply = until(counting_plan(num_slots=16), StopRules(5, 1000), held)
    # 3 of 7 became demonstrations, (3 + 1) / (7 + 1) is one half: 2 more take 4 attempts, and 4 for bad luck.
    assert sum(len(taken) for taken in drain(supply, 2)) == 8


def test_more_is_handed_out_until_there_is_no_hope(counting_plan, became):
    supply = until(counting_plan(), StopRules(1, 30))
    while not supply.done:
        for index in supply.take(2):
            supply.settle(became(index, "failure"))
    with pytest.raises(
        FleetError, match=r"0 of 30 attempts .* at least 1 were to come; most often: not solved within 12 steps"
    ):
        supply.attempts()


def test_no_more_is_handed_out_than_may_be_made(counting_plan, became):
    supply = until(counting_plan(num_slots=16), StopRules(3, 5))
    for index in supply.take(1):
        supply.settle(became(index, "failure"))
    assert drain(supply, 1) == [[3, 4]]
    assert supply.take(1) == []


class Elapsed:
    """A stopwatch that stands where it is told to."""

    time = 0.0

    def seconds(self):
        return self.time


def test_when_the_time_is_up_each_call_counts_to_its_first_attempt_under_way(counting_plan, became):
    stopwatch = Elapsed()
    supply = until(counting_plan(num_slots=6), StopRules(12, 40, 4, max_seconds=60.0), stopwatch=stopwatch)
    assert [supply.take(2), supply.take(2)] == [[0, 1, 2, 3, 4, 5], [6, 7, 8]]
    # 3, 4, 8 were quick: the attempts before them are still under way.
    for index in (0, 1, 3, 4, 6, 8):
        supply.settle(became(index))
    stopwatch.time = 59.9
    assert not supply.done
    stopwatch.time = 60.0
    assert supply.done
    with pytest.raises(FleetError, match=r"the time of 60 s was used up: 3 of 3 attempts .* at least 4 were to come"):
        supply.attempts()
    supply.settle(became(2))
    made = supply.attempts()
    assert [summary.index for summary in made.summaries] == [0, 1, 2, 3, 4, 6]
    assert (made.end, made.sentence()) == (
        "time",
        "the time of 60 s was used up: 6 of 6 attempts became demonstrations",
    )


def test_when_the_time_is_up_there_are_no_more_than_were_wanted(counting_plan, became):
    stopwatch = Elapsed()
    supply = until(counting_plan(num_slots=7), StopRules(2, 40, max_seconds=60.0), stopwatch=stopwatch)
    assert [supply.take(1), supply.take(1), supply.take(1)] == [[0, 1], [], []]
    supply.settle(became(1, "failure"))
    assert [supply.take(1), supply.take(1)] == [[2, 3, 4, 5, 6, 7, 8], []]
    for index in (2, 3, 4):
        supply.settle(became(index))
    stopwatch.time = 60.0
    # 0 is still under way, and so 1 does not count; 2 and 3 are enough.
    assert [summary.index for summary in supply.attempts().summaries] == [2, 3]


def test_held_attempts_count(counting_plan, became):
    supply = until(counting_plan(), StopRules(2, 10), [became(0), became(1)])
    assert supply.done
    assert supply.standing() == (2, 2, "2 of 2 attempts are demonstrations")
