"""Actions read back from what they led to, and the trust of a world that does as told or does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from demoloom.generators.learned.assessment import assess_world
from demoloom.generators.learned.checkpoint import from_pretrained, save_pretrained
from demoloom.generators.learned.config import Presence, WorldConfig
from demoloom.generators.learned.model import WorldModel
from demoloom.generators.learned.training import train_world
from demoloom.generators.learned.world import LearnedWorld

from .moving_square import CONFIG, SPEC, write_squares_without_labels


@pytest.fixture(scope="module")
def follows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world of the square, without labels, that jumps where it is told."""
    folder = tmp_path_factory.mktemp("follows")
    config = replace(CONFIG, dynamics=replace(CONFIG.dynamics, num_steps=200), head_steps=20)
    train_world(write_squares_without_labels(folder / "interaction"), folder / "world", config)
    return folder / "world"


@pytest.fixture(scope="module")
def stays(follows: Path) -> Path:
    """The same, but that its dynamics leaves everything as it is, whatever it is told."""
    world = from_pretrained(follows)
    for parameter in world.model.dynamics.head.parameters():
        torch.nn.init.zeros_(parameter)
    save_pretrained(follows.with_name("stays"), world.model, None, world.start_frames, world.start_states)
    return follows.with_name("stays")


def _after_ten_jumps(checkpoint: Path) -> tuple[np.ndarray, np.ndarray]:
    """Trust (4,) of four episodes after random jumps, with rests between, and the part of it that they did as told."""
    world, rng = LearnedWorld(str(checkpoint), 4), np.random.default_rng(0)
    world.reset(seed=0)
    for jump in rng.uniform(4, 28, (10, 4, 2)).astype(np.float32).repeat(2, axis=0):
        trust = world.step(jump)[-1]["trust"]
    return trust, from_pretrained(checkpoint).model.trust.in_following(world.snapshot().slip).numpy()


def test_the_action_is_read_from_what_it_led_to(follows: Path) -> None:
    misread = json.loads((follows / "metrics.json").read_text())["misread_actions"]
    # The square jumps to where the action says; guessing the middle would be off by a quarter of the range, 0.4.
    assert misread["real"] < 0.1
    assert misread["world"] < 0.2


def test_how_far_actions_are_misread_is_measured_on_any_dataset(stays: Path, follows: Path) -> None:
    found = [assess_world(world, follows.with_name("interaction"), 4)["misread_actions"] for world in (follows, stays)]
    assert found[0]["world"] < 0.2 < found[1]["world"]
    assert found[0]["real"] == found[1]["real"] < 0.1


def test_a_world_that_ignores_its_actions_is_trusted_less_than_one_that_follows(follows: Path, stays: Path) -> None:
    follower, follows_as_told = _after_ten_jumps(follows)
    ignorant, ignores = _after_ten_jumps(stays)
    assert (follows_as_told > 0.6).all()
    assert (ignores < 0.5).all()
    assert (ignorant <= ignores).all()
    assert ignorant.mean() < follower.mean()


@pytest.mark.parametrize(
    ("wanted", "has_labels", "there"),
    [("auto", False, True), ("auto", True, False), ("always", True, True), ("never", False, False)],
)
def test_it_is_there_where_it_is_of_use_or_wanted(wanted: Presence, has_labels: bool, there: bool) -> None:
    spec = SPEC if has_labels else replace(SPEC, labels={})
    model = WorldModel(replace(CONFIG.model, inverse_dynamics=wanted), spec)
    assert (model.inverse_dynamics is not None) == there
    assert WorldConfig(inverse_dynamics=wanted).reads_actions_back(has_labels) == there
