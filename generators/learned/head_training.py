"""The score read from latents where the data has no labels, and where success begins."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .model import WorldModel, of_task
from .optimisation import optimise
from .training_stage import TrainingStage

#: The head reads predicted latents too, whose error is about this.
_LATENT_NOISE = 0.03


def train_latent_score_head(
    model: WorldModel, latents: Tensor, score: Tensor, task: Tensor, rows: np.ndarray, num_steps: int, batch_size: int,
    lr: float, stage: TrainingStage,
) -> None:  # fmt: skip
    """Train the head that reads the score (R,) from latents (R, C, H, W), of tasks (R,)."""

    def loss_at(step: int) -> Tensor:
        chosen = torch.from_numpy(stage.rng.choice(rows, batch_size))
        z = latents[chosen].float()
        level = _LATENT_NOISE * torch.rand(len(z), 1, 1, 1, generator=stage.noise)
        out = model.score_head(z + level * torch.randn(z.shape, generator=stage.noise))
        return 10 * F.smooth_l1_loss(of_task(out, task[chosen]), score[chosen], beta=0.05)

    optimise([model.score_head], loss_at, num_steps, lr, stage)


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
