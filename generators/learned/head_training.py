"""What is read from latents: the score where the data has no labels, where success begins, and actions."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .inverse_dynamics import InverseDynamics
from .model import WorldModel, of_task
from .optimisation import optimise
from .sequences import Sequences
from .training_stage import TrainingStage

#: Heads read predicted latents too, whose error is about this.
_LATENT_NOISE, _LATENT_NOISE_OF_STEPS = 0.03, 0.05


def train_latent_score_head(
    model: WorldModel, latents: Tensor, score: Tensor, task: Tensor, rows: np.ndarray, num_steps: int, batch_size: int,
    lr: float, stage: TrainingStage,
) -> None:  # fmt: skip
    """Train the head that reads the score (R,) from latents (R, C, H, W), of tasks (R,)."""

    def loss_at(step: int) -> Tensor:
        chosen = torch.from_numpy(stage.rng.choice(rows, batch_size))
        out = model.score_head(_noisy(latents[chosen].float(), _LATENT_NOISE, stage.noise))
        return 10 * F.smooth_l1_loss(of_task(out, task[chosen]), score[chosen], beta=0.05)

    optimise([model.score_head], loss_at, num_steps, lr, stage)


def train_inverse_dynamics(
    inverse: InverseDynamics, sequences: Sequences, num_steps: int, batch_size: int, lr: float, stage: TrainingStage
) -> None:
    """Train what reads actions on successive latents of real video, both a little noisy."""

    def loss_at(step: int) -> Tensor:
        rows = sequences.draw(batch_size, stage.rng)
        before, after = (
            _noisy(latents, _LATENT_NOISE_OF_STEPS, stage.noise)
            for latents in (sequences.history(rows)[:, -1], sequences.following(rows))
        )
        return 10 * F.smooth_l1_loss(inverse(before, after), sequences.action_history(rows)[:, -1], beta=0.05)

    optimise([inverse], loss_at, num_steps, lr, stage)


def _noisy(latents: Tensor, most: float, noise: torch.Generator) -> Tensor:
    """White noise with another standard deviation, up to `most`, on each of the latents (B, C, H, W)."""
    level = most * torch.rand(len(latents), 1, 1, 1, generator=noise)
    return latents + level * torch.randn(latents.shape, generator=noise)


def read_scores(model: WorldModel, latents: Tensor, vectors: Tensor, task: Tensor) -> np.ndarray:
    """Scores (R,) of all rows, each of its task (R,)."""
    with torch.inference_mode():
        parts = zip(latents.split(256), vectors.split(256), task.split(256), strict=True)
        return torch.cat([model.score(z.float(), vector, task) for z, vector, task in parts]).numpy()


def choose_success_threshold(score: np.ndarray, success: np.ndarray) -> float:
    """The score from which on a frame counts as a success: the one that calls as many frames right as can be.

    A false success weighs three times as much as a missed one, since it would be trained on. Without any
    success in the data it is 2, which no score reaches.
    """
    if not success.any():
        return 2.0
    order = np.argsort(score)
    is_success = success[order]
    missed = np.concatenate([[0], np.cumsum(is_success)])
    false = np.concatenate([np.cumsum(~is_success[::-1])[::-1], [0]])
    cut = int(np.argmin(missed + 3 * false))
    if cut == 0:
        return float(score[order[0]])
    if cut == len(order):
        return float(np.nextafter(np.float32(score[order[-1]]), np.float32(2)))
    return float((score[order[cut - 1]] + score[order[cut]]) / 2)
