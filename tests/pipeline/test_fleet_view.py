from __future__ import annotations

from demoloom.pipeline.fleet_view import fleet_sentence, worker_lines

from .statuses import fleet_status


def test_a_sentence_says_how_fast_how_long_and_how_much_room() -> None:
    assert fleet_sentence(fleet_status()) == (
        "2 workers, 201 frames/s, 9 min 40 s left, 310 MB of episodes, 211 GB free"
    )


def test_what_is_not_known_yet_is_left_out() -> None:
    begun = fleet_status(1, eta_s=None, disk_used=0, frames_per_s=0.0)
    assert fleet_sentence(begun) == "1 worker, 0 frames/s, 211 GB free"


def test_workers_that_wait_for_a_place_or_load_their_world_are_not_ready() -> None:
    assert fleet_sentence(fleet_status(num_ready=1)).startswith("1 of 2 workers ready, 201 frames/s")


def test_what_was_lost_is_said() -> None:
    assert fleet_sentence(fleet_status(num_lost=1, num_redone=14)).endswith(
        "free, 1 worker lost, 14 episodes begun once more"
    )


def test_each_of_a_few_workers_has_a_line() -> None:
    assert worker_lines(fleet_status(2)) == [
        "worker 0: 100 frames/s, 10 episodes",
        "worker 1: 101 frames/s, 11 episodes",
    ]


def test_of_many_workers_there_are_three_lines() -> None:
    assert worker_lines(fleet_status(64)) == [
        "slowest, worker 0: 100 frames/s, 10 episodes",
        "half are faster than 132 frames/s",
        "fastest, worker 63: 163 frames/s, 73 episodes",
    ]
