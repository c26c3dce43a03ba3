"""A robot small enough to learn in seconds: a dark square on white that jumps to where the action says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from demoloom.generators.learned.config import WorldConfig
from demoloom.generators.learned.training import train_world
from demoloom.generators.learned.training_config import (
    DynamicsTrainingConfig,
    VectorTrainingConfig,
    WorldTrainingConfig,
)
from demoloom.generators.probe_config import ProbeTrainingConfig
from demoloom.storage.episode import Episode
from demoloom.storage.spec import Camera, EpisodeSpec, Vector
from demoloom.storage.zarr_store import ZarrStore

SIZE = 32
SPEC = EpisodeSpec(
    fps=10,
    cameras=(Camera("top", SIZE, SIZE),),
    state=Vector(("x", "y"), (0.0, 0.0), (32.0, 32.0)),
    action=Vector(("x", "y"), (0.0, 0.0), (32.0, 32.0)),
    labels={"place": Vector(("x", "y"), (0.0, 0.0), (32.0, 32.0))},
    robot_type="square",
)
CONFIG = WorldTrainingConfig(
    model=WorldConfig(autoencoder_width=16, dynamics_width=16, num_dynamics_blocks=1, vector_width=64, reader_width=16),
    probe=ProbeTrainingConfig(num_steps=300, batch_size=16, width=16, num_blocks=1),
    dynamics=DynamicsTrainingConfig(num_steps=300, batch_size=16, num_rollouts=4, rollout_length=4),
    autoencoder_steps=300,
    vectors=VectorTrainingConfig(num_steps=400, rollout_length=4, plausibility_steps=200, lr=3e-3),
    decoder_steps=20,
    head_steps=300,
    inverse_steps=300,
    num_starts=20,
    held_out=0.2,
    lr=3e-3,
)


def draw_square(place: np.ndarray) -> np.ndarray:
    """(SIZE, SIZE, 3) uint8 with a square of 8 pixels around `place` (x, y)."""
    frame = np.full((SIZE, SIZE, 3), 255, np.uint8)
    x, y = (int(np.clip(round(float(value)), 4, SIZE - 4)) for value in place)
    frame[y - 4 : y + 4, x - 4 : x + 4] = (40, 60, 120)
    return frame


def square_episodes(count: int, length: int = 20) -> Iterator[Episode]:
    """Episodes of random jumps, with rests between them; the score says how far right the square is."""
    for index in range(count):
        rng = np.random.default_rng(index)
        actions = np.repeat(rng.uniform(4, 28, (length, 2)), 2, axis=0)[:length].astype(np.float32)
        places = np.concatenate([rng.uniform(4, 28, (1, 2)).astype(np.float32), actions])
        score = ((places[1:, 0] - 4) / 24).clip(0, 1).astype(np.float32)
        yield Episode(
            id=f"square-{index:03d}",
            index=index,
            seed=index,
            task="Move the square.",
            images={"top": np.stack([draw_square(place) for place in places[:-1]])},
            state=places[:-1],
            action=actions,
            reward=score,
            success=score > 0.9,
            score=score,
            trust=np.ones(length, np.float32),
            labels={"place": places[:-1]},
            outcome="failure",
            reason="nothing was asked for",
        )


def write_squares(path: Path, count: int = 30) -> Path:
    """A Zarr store of such episodes."""
    store = ZarrStore.create(path, SPEC)
    for episode in square_episodes(count):
        store.append(episode)
    return path


def write_squares_without_labels(path: Path, count: int = 30) -> Path:
    """The same, as most real robots give it."""
    store = ZarrStore.create(path, replace(SPEC, labels={}))
    for episode in square_episodes(count):
        store.append(replace(episode, labels={}))
    return path


def train_toy_world(folder: Path) -> Path:
    """Train a world on them, in some seconds."""
    train_world(write_squares(folder / "interaction"), folder / "world", CONFIG)
    return folder / "world"
