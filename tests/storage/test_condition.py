import pytest
from hypothesis import given
from hypothesis import strategies as st

from demoloom.storage import ConfigError
from demoloom.storage.condition import Kind, Value, parse_condition

KINDS: dict[str, Kind] = {"jerk": "number", "idle": "number", "outcome": "text", "success": "truth"}
VALUES: dict[str, Value] = {"jerk": 2.5, "idle": 0.0, "outcome": "failure", "success": True}


def holds(text: str) -> bool:
    return not parse_condition(text, KINDS).failing(VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "jerk < 3",
        "2 < jerk < 3 and idle == 0",
        "jerk * 2 - 1 == 4 and -jerk < 0 and 7 % 4 == 3",
        "max(jerk, 7, idle) == 7 and abs(-2) == 2 and min(jerk, 9) == 2.5",
        "success and not jerk > 3",
        "jerk > 9 or outcome == 'failure'",
        "outcome in ('failure', 'error') and 'fail' in outcome and outcome not in ['success']",
        "success == True",
        "idle == 0 or jerk / idle > 1",
    ],
)
def test_what_is_true_holds(text):
    assert holds(text)


@pytest.mark.parametrize("text", ["jerk > 3", "not success", "outcome == 'success'", "jerk < 3 and idle > 0", "False"])
def test_what_is_false_does_not_hold(text):
    assert not holds(text)


def test_each_failing_clause_is_named_with_its_values():
    condition = parse_condition("jerk < 2 and (success and idle+jerk > 9) and outcome != 'error'", KINDS)
    failing = condition.failing(VALUES)
    assert [clause.text for clause in failing] == ["jerk < 2", "idle + jerk > 9"]
    assert [clause.describe(VALUES) for clause in failing] == ["jerk = 2.5", "idle = 0, jerk = 2.5"]
    assert condition.names == ("jerk", "success", "idle", "outcome")


def test_a_clause_that_a_check_before_it_guards_is_not_worked_out():
    assert [clause.text for clause in parse_condition("idle > 0 and jerk / idle < 1", KINDS).failing(VALUES)] == [
        "idle > 0"
    ]


@pytest.mark.parametrize("text", ["jerk / idle < 1", "jerk % idle < 1"])
def test_a_division_by_zero_is_named_with_the_values(text):
    with pytest.raises(ConfigError, match=r"cannot be worked out where jerk = 2\.5, idle = 0 "):
        holds(text)


def test_an_unknown_name_suggests_the_nearest_and_lists_all():
    with pytest.raises(ConfigError, match=r"no 'jrek' .*; did you mean 'jerk'\? known are idle, jerk, outcome"):
        parse_condition("jrek < 3", KINDS)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("__import__('os').system('x')", "cannot be part of a condition"),
        ("(lambda: 1)() < 2", "cannot be part of a condition"),
        ("outcome.upper() == 'A'", "cannot be part of a condition"),
        ("outcome[0] == 'f'", "cannot be part of a condition"),
        ("[x for x in outcome] == 1", "cannot be part of a condition"),
        ("9 ** 9 ** 9 < 1", "cannot be part of a condition"),
        ("f'{jerk}' == '1'", "cannot be part of a condition"),
        ("max(*outcome, 1) < 1", "cannot be part of a condition"),
        ("(x := 3) < 4", "cannot be part of a condition"),
        ("print(jerk) < 1", "cannot be part of a condition"),
        ("'a' * 999999999 == 'b'", "is a text where a number is needed"),
        ("outcome < 3", "is a number where a text is needed"),
        ("jerk and success", "is a number where a truth is needed"),
        ("jerk in (1, 'a')", "is a text where a number is needed"),
        ("success < success", "compares what has no such relation"),
        ("jerk is 3", "compares what has no such relation"),
        ("abs(1, 2) < 1", "abs takes one number, got 2"),
        ("max(1) < 1", "max takes two numbers or more, got 1"),
        ("jerk", "is a number, not a condition"),
        ("", "as a condition"),
        ("jerk <", "as a condition"),
        ("jerk = 3", "as a condition"),
        ("(" * 5000 + "1" + ")" * 5000 + " < 2", "as a condition"),
    ],
)
def test_what_is_no_condition_is_refused_with_the_reason(text, fault):
    with pytest.raises(ConfigError, match=fault):
        parse_condition(text, KINDS)


@given(st.text(alphabet="jerkidl <>=()andotr'0123.+-*/%[],:", max_size=40))
def test_any_text_is_a_condition_or_refused(text):
    try:
        parse_condition(text, KINDS)
    except ConfigError:
        return


NUMBERS = st.one_of(st.just("jerk"), st.just("idle"), st.integers(0, 9).map(str))
COMPARISONS = st.tuples(NUMBERS, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), NUMBERS).map(" ".join)
TREES = st.recursive(
    COMPARISONS,
    lambda inner: st.one_of(
        inner.map(lambda text: f"not ({text})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
    ),
)


@given(TREES, st.integers(0, 9), st.integers(0, 9))
def test_a_condition_means_what_python_means(text, jerk, idle):
    values: dict[str, Value] = {"jerk": float(jerk), "idle": float(idle)}
    expected = eval(text, {}, dict(values))  # of our own making
    assert (not parse_condition(text, KINDS).failing(values)) == expected
