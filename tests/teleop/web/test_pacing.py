import pytest
from hypothesis import given
from hypothesis import strategies as st

from demoloom.teleop.web.pacing import Pace


def test_delays_do_not_add_up() -> None:
    pace = Pace(10, now=0.0)
    for step in range(1, 6):
        assert pace.wait_s(step / 10) == pytest.approx(0, abs=1e-9)
        pace.begin(step / 10 + 0.03)
    assert pace.wait_s(0.53) == pytest.approx(0.07)
    assert pace.num_late == 0


def test_a_step_that_is_a_period_late_is_counted_and_the_next_is_not_hurried() -> None:
    pace = Pace(10, now=0.0)
    pace.begin(0.25)
    assert pace.num_late == 1
    assert pace.wait_s(0.25) == pytest.approx(0.1)


def test_standing_still_is_not_late() -> None:
    pace = Pace(10, now=0.0)
    pace.rest(60.0)
    assert pace.wait_s(60.0) == pytest.approx(0.1)
    pace.begin(60.1)
    assert pace.num_late == 0


def test_the_rate_is_that_of_the_last_two_seconds() -> None:
    pace = Pace(10, now=0.0)
    for step in range(1, 100):
        pace.begin(step / 10)
    assert pace.rate() == pytest.approx(10)


@given(st.lists(st.floats(0, 0.5), min_size=1, max_size=50))
def test_after_any_delays_no_two_steps_begin_within_a_burst(delays: list[float]) -> None:
    pace, now, begun = Pace(10, now=0.0), 0.0, []
    for delay in delays:
        now += pace.wait_s(now) + delay
        pace.begin(now)
        begun.append(now)
    for first, third in zip(begun, begun[2:], strict=False):
        assert third - first >= 0.1 - 1e-9
