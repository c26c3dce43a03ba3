from __future__ import annotations

import threading
from pathlib import Path

import pytest

from demoloom.generators.learned.training_stage import Halted

from .toy_training import training_in


def test_random_numbers_follow_from_stage_and_step_alone(tmp_path: Path) -> None:
    training = training_in(tmp_path)
    stage, again, other = training.stage("a"), training.stage("a"), training.stage("b")
    stage.rng.normal(size=3)
    for one in (stage, again, other):
        one.turn_to(5)
    first = stage.rng.random()
    assert again.rng.random() == first != other.rng.random()
    again.turn_to(6)
    assert again.rng.random() != first
    assert stage.noise.initial_seed() != other.noise.initial_seed()


def test_pieces_in_the_second_thread_run_one_after_the_other(tmp_path: Path) -> None:
    done: list[int] = []
    with training_in(tmp_path).second_thread() as beside:
        beside(done.append, 1)
        beside(done.append, 2)
    assert done == [1, 2]


def test_an_error_in_the_second_thread_ends_the_first_and_is_the_one_raised(tmp_path: Path) -> None:
    training = training_in(tmp_path)
    stage = training.stage("a")

    def fail() -> None:
        raise ValueError("the second one")

    def train() -> None:
        with training.second_thread() as beside:
            beside(fail)
            while True:
                stage.turn_to(0)

    with pytest.raises(ValueError, match="the second one"):
        train()


def test_an_error_in_the_first_thread_ends_the_second(tmp_path: Path) -> None:
    training, ended = training_in(tmp_path), threading.Event()
    stage = training.stage("a")

    def until_halted() -> None:
        try:
            while True:
                stage.turn_to(0)
        except Halted:
            ended.set()
            raise

    def train() -> None:
        with training.second_thread() as beside:
            beside(until_halted)
            raise ValueError("the first one")

    with pytest.raises(ValueError, match="the first one"):
        train()
    assert ended.is_set()
