from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from demoloom.generators.learned.autoencoder_training import encode_all, set_background, train_autoencoder
from demoloom.generators.learned.interaction import collect_rows
from demoloom.generators.learned.inverse_dynamics import (
    InverseDynamics,
    real_action_error,
    train_inverse_dynamics,
    world_action_error,
)
from demoloom.generators.learned.model import WorldModel
from demoloom.generators.learned.sequences import Sequences
from demoloom.generators.learned.timeline import Timeline
from demoloom.generators.learned.training_log import TrainingLog
from demoloom.generators.learned.training_stage import Training

from .moving_square import CONFIG, SPEC, square_episodes


@dataclass(frozen=True)
class Read:
    """A trained inverse dynamics, and what it was trained on."""

    inverse: InverseDynamics
    model: WorldModel
    sequences: Sequences
    held_out: np.ndarray


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Read:
    torch.manual_seed(0)
    episodes = [replace(episode, labels={}) for episode in square_episodes(30)]
    data = collect_rows(replace(SPEC, labels={}), episodes)
    train, held_out = data.split(0.2)
    model = WorldModel(CONFIG.model, data.spec)
    log: Path = tmp_path_factory.mktemp("log") / "losses.jsonl"
    training = Training(0, TrainingLog(log, 0))
    set_background(model, data.frames, data.rows(train))
    train_autoencoder(model, data, data.rows(train), 200, 16, 8, 3e-3, training.stage("autoencoder"))
    vectors, actions = model.scale_vectors(data.state, {}), model.scale_actions(torch.from_numpy(data.action))
    latents = encode_all(model, data.frames)
    sequences = Sequences(Timeline(data.starts, train), latents, vectors, actions, model.config.history)
    inverse = InverseDynamics.of(model)
    train_inverse_dynamics(inverse, sequences, 300, 32, 3e-3, training.stage("inverse dynamics"))
    rows = data.rows(held_out)
    return Read(inverse.eval(), model.eval(), sequences, rows[sequences.timeline.has_next(rows)])


def test_the_action_is_read_from_what_it_led_to(read: Read) -> None:
    # The square jumps to where the action says; guessing the middle would be off by a quarter of the range, 0.4.
    assert real_action_error(read.inverse, read.sequences, read.held_out) < 0.1


def test_a_world_that_does_not_move_is_found_not_to_follow(read: Read) -> None:
    # An untrained dynamics leaves every latent as it is.
    still = world_action_error(read.inverse, read.model, read.sequences, read.held_out)
    assert still > 2 * real_action_error(read.inverse, read.sequences, read.held_out)
