from __future__ import annotations

from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from fleet_checks import check_slow_store, parts_of
from fleet_costs import Stored, storing, worker_costs
from fleet_memory import Memory
from fleet_model import Costs
from fleet_predictions import prediction_rows
from fleet_sides import run_side
from fleet_standins import waiting_plan

from demoloom.generators.fleet.supply import Fixed


@pytest.mark.parametrize(("num_episodes", "num_workers"), [(200, 2), (64, 1), (5, 2), (300, 3)])
def test_parts_are_calls_in_turns(num_episodes: int, num_workers: int) -> None:
    indices = list(range(num_episodes))
    supply = Fixed(waiting_plan(16, 10, step_s=0.0), indices, [])
    parts: list[list[int]] = [[] for _ in range(num_workers)]
    for worker in cycle(range(num_workers)):
        if not (call := supply.take(num_workers)):
            break
        parts[worker] += call
    assert parts_of(indices, 16, num_workers) == parts


def test_a_bare_loop_in_two_processes_makes_each_episode_once(tmp_path: Path) -> None:
    side = run_side("bare", waiting_plan(2, 5, step_s=0.0), 6, tmp_path / "store", num_workers=2)
    assert [summary.index for summary in side.summaries] == [0, 1, 2, 3, 4, 5]
    assert side.lengths == [5] * 6
    assert side.num_demonstrations == 0
    assert 0 < side.first_s <= side.wall_s


def test_a_way_that_fails_ends_the_benchmark(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("no folder")
    with pytest.raises(SystemExit, match="bare: a process ended with"):
        run_side("bare", waiting_plan(2, 5, step_s=0.0), 1, tmp_path / "store", num_workers=1)


def test_a_world_that_waits_is_timed_by_its_wait() -> None:
    costs = worker_costs(waiting_plan(4, 5, step_s=0.02), 4, store_s=0.001, seconds=0.2)
    assert 0.02 <= costs.step_s < 0.2
    assert 0 < costs.core_s < 0.2
    stored = storing(waiting_plan(4, 5, step_s=0.0))
    assert stored.seconds > 0
    assert stored.num_bytes > 0


def test_a_slow_store_is_slow_in_the_model_too(tmp_path: Path) -> None:
    check = check_slow_store(0.1, 32, tmp_path)
    # 16 slots of 20 ms a step would give 800; other work on the machine can only slow down what is measured.
    assert check.measured < 1.2 * check.predicted < 700


def test_growth_is_from_the_first_look_to_the_largest_later_one() -> None:
    memory = Memory(np.array([10, 20, 30]), np.array([5.0, 9.0, 7.0]), np.array([8.0, 6.0, 7.0]), 0.0, 0.0)
    assert memory.growth(memory.driver_mb) == 4
    assert memory.growth(memory.worker_mb) == -1


def test_eight_times_the_gpus_make_eight_times_the_frames_until_the_driver_is_busy() -> None:
    costs = Costs(num_slots=64, step_s=0.3, core_s=0.02, store_s=0.0001)
    rows = prediction_rows(costs, Stored(0.0001, 1000), driver_s=0.001, frames_per_episode=200)
    # 64 frames each 20 ms of the GPU and 20 ms of the core.
    assert [row["value"] for row in rows] == pytest.approx([8 * 1600, 64 * 1600])
    rows = prediction_rows(costs, Stored(0.0001, 1000), driver_s=0.01, frames_per_episode=200)
    assert [row["value"] for row in rows] == pytest.approx([8 * 1600, 100 * 200])
