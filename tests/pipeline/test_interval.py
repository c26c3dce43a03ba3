from __future__ import annotations

import pytest

from demoloom.pipeline.interval import Interval


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def ends(least_s: float, seconds: int) -> int:
    """How often an interval is over in so many seconds, asked for ten times a second."""
    clock = Clock()
    interval = Interval(least_s, clock)
    count = 0
    for tenth in range(10 * seconds + 1):
        clock.now = tenth / 10
        count += interval.is_over()
    return count


def test_it_is_over_each_ten_seconds_at_first() -> None:
    assert ends(10, 100) == 10
    assert ends(10, 1000) == 100


def test_a_night_says_little_more_than_an_hour() -> None:
    # 100 in the first 1000 s, then ln(t / 1000 s) / ln(1.01): 129 more in an hour, 338 in eight, 644 in a week.
    assert ends(10, 3600) == pytest.approx(229, abs=10)
    assert ends(10, 8 * 3600) == pytest.approx(438, abs=10)
    assert ends(10, 7 * 24 * 3600) == pytest.approx(744, abs=15)


def test_without_a_length_it_is_always_over() -> None:
    assert ends(0, 100) == 1001
