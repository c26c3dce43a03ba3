import dataclasses

import pytest

from demoloom.generators.fleet.coverage import Coverage, CoverageRule
from demoloom.generators.fleet.stop_rules import Attempts, StopRules, Tally, is_hopeless
from demoloom.generators.fleet.worker import failed
from demoloom.storage.episode import Outcome
from demoloom.storage.errors import ConfigError, FleetError


@pytest.fixture
def became(counting_plan):
    """Makes {index: attempt} of letters: s(uccess), f(ailure), e(rror)."""
    outcomes: dict[str, tuple[Outcome, str]] = {
        "s": ("success", ""),
        "f": ("failure", "not solved"),
        "e": ("error", "RuntimeError: broke"),
    }

    def make(letters):
        made = {}
        for index, letter in enumerate(letters):
            outcome, reason = outcomes[letter]
            made[index] = dataclasses.replace(failed(counting_plan(), index, reason), outcome=outcome)
        return made

    return make


def tallied(rules, became):
    tally = Tally(rules)
    tally.count(became)
    return tally


def test_the_last_demonstration_wanted_is_the_last_attempt_that_counts(became):
    tally = tallied(StopRules(2, 10), became("sfsss"))
    assert (len(tally.summaries), tally.num_demonstrations, tally.end) == (3, 2, "enough")


def test_nothing_counts_beyond_an_attempt_that_is_missing(became):
    made = became("sfs")
    missing = made.pop(1)
    tally = tallied(StopRules(2, 10), made)
    assert (len(tally.summaries), tally.end) == (1, None)
    tally.count({1: missing, 2: made[2]})
    assert (len(tally.summaries), tally.end) == (3, "enough")


def test_the_order_in_which_attempts_end_changes_nothing(became):
    made = became("fsfessfs")
    forward, backward = Tally(StopRules(3, 8)), Tally(StopRules(3, 8))
    for count in range(8):
        forward.count({index: made[index] for index in range(count + 1)})
        backward.count({index: made[index] for index in range(7 - count, 8)})
    assert forward.summaries == backward.summaries == [made[index] for index in range(6)]
    assert forward.end == backward.end == "enough"


def test_a_budget_of_attempts_keeps_what_there_is(became):
    tally = tallied(StopRules(4, 6), became("sfsfsfss"))
    assert (len(tally.summaries), tally.num_demonstrations, tally.end) == (6, 3, "attempts")
    made = Attempts(tally.summaries, "attempts", StopRules(4, 6), Coverage(CoverageRule()))
    made.check()
    assert made.sentence() == "all 6 attempts were used: 3 of 6 attempts became demonstrations"


def test_too_few_demonstrations_are_an_error_with_the_most_common_reasons(became):
    rules = StopRules(5, 5, min_demonstrations=2)
    made = Attempts(list(became("sfffe").values()), "attempts", rules, Coverage(CoverageRule()))
    reasons = r"not solved \(3 times\), RuntimeError: broke \(1 times\)"
    with pytest.raises(FleetError, match=rf"1 of 5 attempts .* at least 2 were to come; most often: {reasons}"):
        made.check()


def test_exceptions_count_as_attempts(became):
    assert tallied(StopRules(1, 3), became("eee")).end == "attempts"


def test_a_run_ends_once_too_few_attempts_are_left(became):
    # 3 of 6 are to come: after 4 failures only 2 can.
    tally = tallied(StopRules(6, 6, min_demonstrations=3), became("ffff"))
    assert (len(tally.summaries), tally.end) == (4, "hopeless")


def test_a_run_ends_once_there_is_no_hope_of_enough():
    # 1 of 2 is needed. That 20 fail in a row has a probability of 2 ** -20, about one in a million; with that many
    # attempts left that it makes no difference to the rest.
    assert not is_hopeless(0, 19, 50_000, 100_000)
    assert is_hopeless(0, 20, 50_000, 100_000)


def test_what_may_still_come_is_hoped_for():
    # The last attempt must succeed, and half of them did.
    assert not is_hopeless(99, 199, 100, 200)
    # 1 of 8 is needed, and just that is seen.
    assert not is_hopeless(50, 400, 100, 800)


def test_with_enough_for_a_dataset_there_is_no_hopelessness():
    assert not is_hopeless(5, 1000, 5, 1001)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"num_demonstrations": 11, "max_attempts": 10}, "11 demonstrations cannot come of max_attempts=10"),
        ({"num_demonstrations": 0, "max_attempts": 10}, "0 demonstrations cannot come of max_attempts=10"),
        ({"num_demonstrations": 4, "max_attempts": 9, "min_demonstrations": 5}, r"must lie in 1 .. 4.* got 5"),
        ({"num_demonstrations": 4, "max_attempts": 9, "max_seconds": 0.0}, "must be more than 0 s, got 0"),
        ({"num_demonstrations": 4, "max_attempts": 9, "max_seconds": float("nan")}, "must be more than 0 s, got nan"),
    ],
)
def test_rules_that_cannot_be_met_are_refused(rules, message):
    with pytest.raises(ConfigError, match=message):
        StopRules(**rules)


def test_a_dataset_is_at_least_half_of_what_was_asked_for_unless_said_otherwise():
    assert StopRules(5, 10).least == 3
    assert StopRules(5, 10, min_demonstrations=1).least == 1
