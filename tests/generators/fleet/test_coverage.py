import dataclasses

import pytest

from demoloom.generators.fleet.coverage import START, Coverage, CoverageRule
from demoloom.generators.fleet.stop_rules import Attempts, StopRules, Tally
from demoloom.generators.fleet.stopwatch import Stopwatch
from demoloom.generators.fleet.supply import Demonstrations
from demoloom.generators.fleet.worker import failed
from demoloom.storage.episode import Outcome
from demoloom.storage.errors import ConfigError


@pytest.fixture
def starting(counting_plan):
    """Makes {index: attempt} of (start, succeeded); a start of None is an exception."""

    def make(*attempts):
        made = {}
        for index, (start, succeeded) in enumerate(attempts):
            attempt = failed(counting_plan(), index, "" if succeeded else "not solved")
            if start is not None:
                outcome: Outcome = "success" if succeeded else "failure"
                attempt = dataclasses.replace(attempt, outcome=outcome, lineage={START: {"x": start, "y": 0.5}})
            made[index] = attempt
        return made

    return make


def test_starts_within_one_width_share_a_cell():
    rule = CoverageRule("x=10 y=0.5")
    assert [rule.cell({"x": x, "y": y}) for x, y in [(0, 0), (9.9, 0.4), (10, 0.5), (-0.1, 1.2)]] == [
        (0, 0),
        (0, 0),
        (1, 1),
        (-1, 2),
    ]


def test_all_cells_in_which_attempts_started_must_be_covered(starting):
    rules = StopRules(3, 100, coverage=CoverageRule("x=10"))
    tally = Tally(rules)
    tally.count(starting((1, True), (2, True), (15, False), (3, True), (19, True), (1, True)))
    # Three demonstrations are there with attempt 3, but in the second cell there is none before attempt 4.
    assert (len(tally.summaries), tally.num_demonstrations, tally.end) == (5, 4, "enough")
    made = Attempts(tally.summaries, "enough", rules, tally.coverage)
    assert made.sentence() == (
        "4 of 5 attempts became demonstrations, as many as asked for, 2 of 2 start cells have a demonstration"
    )


def test_so_many_demonstrations_in_so_large_a_share_are_enough(starting):
    attempts = starting((1, True), (1, True), (11, True), (21, False), (31, True))
    counted = {}
    for least, share in [(1, 0.75), (1, 0.76), (2, 0.25), (2, 0.26)]:
        coverage = Coverage(CoverageRule("x=10", least, share))
        for attempt in attempts.values():
            coverage.count(attempt)
        counted[least, share] = coverage.is_reached
    # Of 4 cells 3 have one demonstration, and 1 has two.
    assert counted == {(1, 0.75): True, (1, 0.76): False, (2, 0.25): True, (2, 0.26): False}


def test_the_emptiest_cells_come_first_in_the_table(starting):
    coverage = Coverage(CoverageRule("x=10 y=2"))
    for attempt in starting((1, True), (25, False), (2, True), (None, False)).values():
        coverage.count(attempt)
    assert coverage.table() == [
        {"x": 20.0, "y": 0.0, "demonstrations": 0},
        {"x": 0.0, "y": 0.0, "demonstrations": 2},
    ]


def test_without_cells_any_starts_will_do(starting):
    coverage = Coverage(CoverageRule())
    for attempt in starting((1, False), (25, False)).values():
        coverage.count(attempt)
    assert (coverage.is_reached, coverage.sentence(), coverage.table()) == (True, "", [])


def test_the_order_in_which_attempts_end_does_not_change_when_starts_are_covered(starting, counting_plan):
    attempts = starting((1, True), (11, False), (1, True), (12, True), (1, True), (21, True))
    rules = StopRules(2, 6, coverage=CoverageRule("x=10"))
    made = []
    for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 2, 4, 1]):
        supply = Demonstrations(counting_plan(num_slots=6), rules, [], Stopwatch())
        for index in order:
            supply.settle(attempts[index])
        made.append([summary.index for summary in supply.attempts().summaries])
    assert made == [[0, 1, 2, 3]] * 3


def test_attempts_are_handed_out_until_starts_are_covered(starting, counting_plan):
    attempts = starting((1, True), (11, False), (12, False), (1, True), (11, True))
    supply = Demonstrations(counting_plan(num_slots=2), StopRules(2, 9, coverage=CoverageRule("x=10")), [], Stopwatch())
    for index in (0, 1, 2, 3):
        supply.settle(attempts[index])
    # Two demonstrations, one of two cells covered: two slots of two workers are filled.
    assert list(iter(lambda: supply.take(2), [])) == [[4, 5], [6], [7]]
    assert supply.standing()[2] == "2 of 4 attempts are demonstrations, 1 of 2 start cells have a demonstration"
    supply.settle(attempts[4])
    assert supply.done


def test_a_dimension_that_starts_do_not_have_is_named_with_those_they_have(starting):
    coverage = Coverage(CoverageRule("block.x=10"))
    with pytest.raises(ConfigError, match=r"starts have no 'block\.x' to divide by; there are x, y"):
        coverage.count(starting((1, True))[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cells": "x:10"}, r"cannot read the cells 'x:10'; write NAME=WIDTH"),
        ({"cells": "x=wide"}, r"cannot read the cells 'x=wide'"),
        ({"cells": "x=0"}, r"widths of cells must be more than 0, got 'x=0'"),
        ({"min_each": 0}, r"min_each of a coverage must be at least 1, got 0"),
        ({"share": 0.0}, r"share of a coverage must lie above 0 and not above 1, got 0.0"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        CoverageRule(**settings)
