"""The action read back from what it led to: whether a world follows its actions as real video does.

A world that draws sharp frames may still do something else than it was told. Reading the action from two successive
latents, in reality and in a world alike, tells: the world's error divided by that on real video is about 1 where the
world does as told, and several where it does not (compare action-following in DreamGen, Jang et al., arXiv 2505.12705).
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .config import WorldConfig
from .model import WorldModel
from .optimisation import autocast, optimise
from .reader import Reader
from .sequences import Sequences
from .training_stage import TrainingStage

#: Latents of a world are a little wrong, and what reads them must bear that.
_LATENT_NOISE = 0.05
_NUM_BLOCKS = 3


class InverseDynamics(nn.Module):
    """Reads the scaled action that led from one latent to the next.

    Args:
        config: of the world.
        height, width: of its latents.
        action_size: numbers in an action.
    """

    def __init__(self, config: WorldConfig, height: int, width: int, action_size: int) -> None:
        super().__init__()
        inputs = 2 * config.latent_channels
        self.reader = Reader(inputs, height, width, action_size, config.reader_width, _NUM_BLOCKS)

    @classmethod
    def of(cls, model: WorldModel) -> InverseDynamics:
        """An untrained one that suits the latents of a world."""
        height, width = (side // model.config.downscale for side in model.canvas)
        return cls(model.config, height, width, model.spec.action.size)

    def forward(self, before: Tensor, after: Tensor) -> Tensor:
        """Latents (B, C, H, W) before and after a step -> the action (B, A) commanded between them, scaled."""
        with autocast():
            read: Tensor = self.reader(torch.cat([after, after - before], 1))
        return read


def train_inverse_dynamics(
    inverse: InverseDynamics, sequences: Sequences, num_steps: int, batch_size: int, lr: float, stage: TrainingStage
) -> None:
    """Train on successive latents of real video, both a little noisy."""

    def noisy(latents: Tensor) -> Tensor:
        level = _LATENT_NOISE * torch.rand(len(latents), 1, 1, 1, generator=stage.noise)
        return latents + level * torch.randn(latents.shape, generator=stage.noise)

    def loss_at(step: int) -> Tensor:
        rows = sequences.draw(batch_size, stage.rng)
        before, after = sequences.history(rows)[:, -1], sequences.following(rows)
        return 10 * F.smooth_l1_loss(
            inverse(noisy(before), noisy(after)), sequences.action_history(rows)[:, -1], beta=0.05
        )

    optimise([inverse], loss_at, num_steps, lr, stage)


@torch.inference_mode()
def real_action_error(inverse: InverseDynamics, sequences: Sequences, rows: np.ndarray) -> float:
    """Mean absolute error of the actions (scaled, so that 2 is their whole range) read from real video after `rows`."""
    parts = np.array_split(rows, -(-len(rows) // 256))
    return float(torch.cat([_errors(inverse, sequences, part, sequences.following(part)) for part in parts]).mean())


@torch.inference_mode()
def world_action_error(inverse: InverseDynamics, model: WorldModel, sequences: Sequences, rows: np.ndarray) -> float:
    """The same, read from what a world makes of these rows, one step each."""
    parts, errors = np.array_split(rows, -(-len(rows) // 256)), []
    for part in parts:
        latents, vectors = sequences.history(part), sequences.vector_history(part)
        predicted, _ = model.predict(latents, vectors, sequences.action_history(part), sequences.task(part))
        errors.append(_errors(inverse, sequences, part, predicted))
    return float(torch.cat(errors).mean())


def _errors(inverse: InverseDynamics, sequences: Sequences, rows: np.ndarray, after: Tensor) -> Tensor:
    """(B, A) absolute errors of the actions read between the real latents of `rows` and `after`."""
    commanded = sequences.action_history(rows)[:, -1]
    return (inverse(sequences.history(rows)[:, -1], after) - commanded).abs()
