from __future__ import annotations

from demoloom.pipeline.interval import Interval


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def ends(least_s: float, seconds: int) -> int:
    """How often an interval is over in so many seconds, asked for each second."""
    clock = Clock()
    interval = Interval(least_s, clock)
    count = 0
    for second in range(seconds):
        clock.now = float(second)
        count += interval.is_over()
    return count


def test_it_is_over_each_ten_seconds_at_first() -> None:
    assert ends(10, 101) == 10


def test_a_night_says_little_more_than_an_hour() -> None:
    # 100 in the first 1000 s, then 100 ln(t / 1000 s): 128 more in an hour, 340 more in 8 hours, 640 in a week.
    assert 200 <= ends(10, 3600) <= 230
    assert 400 <= ends(10, 8 * 3600) <= 440
    assert ends(10, 7 * 24 * 3600) <= 750
