import math
import subprocess
import sys
from pathlib import Path

import pytest
from teleop_timing import Seen, frame_rate, key_latencies, percentile, seconds_off

ROOT = Path(__file__).parents[2]


def test_a_key_waits_for_the_first_picture_of_the_input_that_it_caused() -> None:
    seen = Seen(keys_ms=[100.0, 205.0], inputs_ms=[(90.0, 140.0), (101.0, 160.0), (206.0, 240.0)], drawn_ms=[])
    assert key_latencies(seen) == [60.0, 35.0]


def test_a_key_whose_picture_never_came_counts_for_nothing() -> None:
    assert key_latencies(Seen(keys_ms=[100.0], inputs_ms=[(90.0, 140.0)], drawn_ms=[])) == []


def test_jitter_is_how_far_each_interval_is_from_the_period() -> None:
    assert seconds_off([0.0, 60.0, 130.0], 0.065) == pytest.approx([0.005, 0.005])


def test_a_rate_is_intervals_over_the_time_they_took() -> None:
    assert frame_rate([0.0, 50.0, 200.0]) == 10.0
    assert frame_rate([7.0]) == 0.0


def test_nothing_measured_meets_no_aim() -> None:
    assert math.isinf(percentile([], 95))
    assert percentile([1.0, 3.0], 50) == 2.0


def test_the_benchmark_says_how_to_run_it_at_once() -> None:
    asked = [sys.executable, str(ROOT / "benchmarks" / "teleop.py"), "--help"]
    told = subprocess.run(asked, capture_output=True, text=True, timeout=60)
    assert "--quick" in told.stdout, told.stderr
