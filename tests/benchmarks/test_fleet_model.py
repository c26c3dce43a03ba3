from __future__ import annotations

from dataclasses import replace

import pytest
from fleet_model import Costs, Limits, fill, frames_per_s, num_batch_steps, seconds_beside_store

# 10 frames a step: 50 ms for the world, 10 ms on the core, 40 ms to store them all.
CORE = Costs(num_slots=10, step_s=0.05, core_s=0.01, store_s=0.004)
DEVICE = replace(CORE, has_device=True)


def test_on_a_core_the_world_the_stream_and_the_store_take_turns() -> None:
    assert frames_per_s(CORE, 1) == pytest.approx(10 / 0.1)


def test_beside_a_device_storing_costs_nothing_until_it_takes_longer_than_a_step() -> None:
    assert frames_per_s(DEVICE, 1) == pytest.approx(10 / 0.06)
    assert frames_per_s(replace(DEVICE, store_s=0.009), 1) == pytest.approx(10 / 0.1)


def test_empty_slots_take_the_time_of_a_step_and_give_no_frames() -> None:
    assert frames_per_s(replace(DEVICE, fill=0.5), 1) == pytest.approx(5 / 0.06)


def test_workers_add_up_until_they_meet_what_they_share() -> None:
    assert frames_per_s(CORE, 8) == pytest.approx(800)
    assert frames_per_s(CORE, 8, Limits(cores=2)) == pytest.approx(200)
    assert frames_per_s(CORE, 8, Limits(episodes_per_s=3), frames_per_episode=100) == pytest.approx(300)
    assert frames_per_s(CORE, 8, Limits(bytes_per_s=4000), bytes_per_frame=10) == pytest.approx(400)


def test_a_device_leaves_the_cores_to_the_stream_and_the_store() -> None:
    assert frames_per_s(DEVICE, 8, Limits(cores=2)) == pytest.approx(2 * 10 / 0.05)


def test_a_free_slot_takes_the_next_episode_and_the_last_ones_run_out() -> None:
    # Slot 1: 5; slot 2: 2 + 2 + 4.
    assert num_batch_steps([5, 2, 2, 4], num_slots=2) == 8
    assert num_batch_steps([5], num_slots=2) == 5


def test_each_call_runs_its_slots_empty_once() -> None:
    assert fill([[2, 2], [2, 2]], num_slots=2) == 1
    assert fill([[4, 2], [2, 4]], num_slots=2) == pytest.approx(12 / 16)


def test_a_store_that_keeps_up_takes_only_the_time_of_the_last_episode() -> None:
    # One slot makes the first and the third, the other the second; the last begins at 2 s.
    assert seconds_beside_store([1, 2, 1, 2], num_slots=2, step_s=1.0, episode_s=0.25) == pytest.approx(4.25)


def test_a_world_waits_for_a_slow_store_once_two_episodes_wait_for_it() -> None:
    # Four end together at 1 s and are stored at 3, 5, 7 and 9 s; the third and fourth find two before them, so that the
    # next step begins at 5 s and ends at 6 s, with one more to be stored after 9 s.
    assert seconds_beside_store([1, 1, 1, 1, 1], num_slots=4, step_s=1.0, episode_s=2.0) == pytest.approx(11)


@pytest.mark.parametrize("wrong", [{"num_slots": 0}, {"step_s": -1.0}, {"fill": 0.0}, {"fill": 1.5}])
def test_costs_that_cannot_be_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="costs must be positive"):
        replace(CORE, **wrong)  # type: ignore[arg-type]
