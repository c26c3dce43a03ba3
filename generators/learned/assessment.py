"""How good a trained world is on data that it has not seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...storage.errors import SpecMismatch
from ..probe import Probe
from .action_following import misreadings, shuffled_action_ratio
from .autoencoder_training import encode_all
from .calibration import some
from .checkpoint import from_pretrained
from .evaluation import open_loop_table, pose_table, roll_open_loop, score_metrics
from .head_training import read_scores
from .interaction import Interaction, read_interaction
from .model import WorldModel
from .sequences import Sequences
from .timeline import Timeline


def assess_world(world: Path, dataset: Path, num_episodes: int = 50) -> dict[str, Any]:
    """Run a world open loop beside the episodes of a dataset.

    Args:
        world: its checkpoint.
        dataset: of the same robot; not the data that the world was trained on.
        num_episodes: how many of its episodes are used, evenly spread.

    Returns:
        `episodes`, `open_loop` (a row for each horizon, see `open_loop_table`), `poses` (see `pose_table`, where labels
        are poses), `shuffled_action_ratio`, `misread_actions` (see `misreadings`), and how well score and success are
        read from real frames.

    Raises:
        CheckpointError: there is no world.
        StoreError: there is no dataset.
        SpecMismatch: they are not of one robot; the message lists the differences.
    """
    checkpoint = from_pretrained(world)
    model, probe = checkpoint.model, checkpoint.probe
    data = read_interaction(dataset, num_episodes=num_episodes, multiple=model.config.canvas_multiple)
    if found := model.spec.differences(data.spec):
        raise SpecMismatch(f"the world at {world} is not one of the robot of {dataset}: {'; '.join(found)}")
    every = np.arange(len(data.starts) - 1)
    sequences = _sequences(model, data, every, probe)
    run = roll_open_loop(model, data, sequences, every, most=num_episodes)
    rows, vectors = data.rows(every), model.scale_vectors(data.state, data.labels)
    score = read_scores(model, sequences.latents, vectors, sequences.task(rows))
    return {
        "episodes": len(every),
        "open_loop": open_loop_table(model, data, run, probe),
        "poses": [] if probe is None else pose_table(model, data, run, probe),
        "shuffled_action_ratio": shuffled_action_ratio(model, data, sequences, run.rows),
        "misread_actions": misreadings(model, sequences, some(rows[sequences.timeline.has_next(rows)])),
        **score_metrics(score, data, rows, float(model.success_threshold)),
    }


def _sequences(model: WorldModel, data: Interaction, episodes: np.ndarray, probe: Probe | None) -> Sequences:
    task = torch.tensor([model.task_number(text) for text in data.tasks])[torch.from_numpy(data.task)]
    return Sequences(
        Timeline(data.starts, episodes), encode_all(model, data.frames), _as_read(model, data, probe),
        model.scale_actions(torch.from_numpy(data.action)), model.config.history, model.config.anchor, task,
    )  # fmt: skip


def _as_read(model: WorldModel, data: Interaction, probe: Probe | None) -> Tensor:
    """The vectors (R, D), but with each episode's first labels as a world that starts there reads them."""
    labels = {name: values.copy() for name, values in data.labels.items()}
    if probe is not None:
        first = data.starts[:-1]
        for name, read in probe(data.frames[first]).items():
            labels[name][first] = read
    return model.scale_vectors(data.state, labels)
