from __future__ import annotations

from demoloom.pipeline.spoken import spoken_size, spoken_time


def test_a_time_is_said_in_its_own_units() -> None:
    times = [spoken_time(given) for given in (9.4, 65, 7199, 7260)]
    assert times == ["9 s", "1 min 05 s", "119 min 59 s", "2 h 01 min"]


def test_a_size_is_said_in_its_own_units() -> None:
    sizes = [spoken_size(given) for given in (999, 3400, 211_000_000, 2_500_000_000_000)]
    assert sizes == ["999 bytes", "3.4 kB", "211 MB", "2.5 TB"]
