"""How good a trained world is on data that it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...storage.errors import SpecMismatch
from .autoencoder_training import encode_all
from .checkpoint import from_pretrained
from .evaluation import open_loop_table, roll_open_loop, score_metrics
from .head_training import read_scores
from .interaction import read_interaction
from .sequences import Sequences
from .timeline import Timeline


def assess_world(world: Path, dataset: Path, num_episodes: int = 50) -> dict[str, Any]:
    """Run a world open loop beside the episodes of a dataset.

    Args:
        world: its checkpoint.
        dataset: of the same robot; not the data that the world was trained on.
        num_episodes: how many of its episodes are used, evenly spread.

    Returns:
        `episodes`, `open_loop` (a row for each horizon, see `open_loop_table`), and how well score and success are
        read from real frames.

    Raises:
        CheckpointError: there is no world.
        StoreError: there is no dataset.
        SpecMismatch: they are not of one robot; the message lists the differences.
    """
    checkpoint = from_pretrained(world)
    model, data = (
        checkpoint.model,
        read_interaction(dataset, num_episodes=num_episodes, multiple=checkpoint.model.config.canvas_multiple),
    )
    if found := model.spec.differences(data.spec):
        raise SpecMismatch(f"the world at {world} is not one of the robot of {dataset}: {'; '.join(found)}")
    every = np.arange(len(data.starts) - 1)
    vectors = model.scale_vectors(data.state, data.labels)
    actions = model.scale_actions(torch.from_numpy(data.action))
    latents = encode_all(model, data.frames)
    task = torch.tensor([model.task_number(text) for text in data.tasks])[torch.from_numpy(data.task)]
    sequences = Sequences(
        Timeline(data.starts, every), latents, vectors, actions, model.config.history, model.config.anchor, task
    )
    run = roll_open_loop(model, data, sequences, every)
    score = read_scores(model, latents, vectors, task)
    return {
        "episodes": len(every),
        "open_loop": open_loop_table(model, data, run, checkpoint.probe),
        **score_metrics(score, data, data.rows(every), float(model.success_threshold)),
    }
