"""Training of the head that reads state and score from latents, and its threshold of success."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .interaction import Interaction
from .model import WorldModel
from .optimisation import TrainingLog, optimise

#: The head reads predicted latents too, whose error is about this.
_LATENT_NOISE = 0.03
_SCORE_WEIGHT = 2.0


def set_state_units(model: WorldModel, state: np.ndarray) -> None:
    """Take mean and standard deviation of the state from the data."""
    model.state_mean.copy_(torch.from_numpy(state.mean(0)))
    model.state_scale.copy_(torch.from_numpy(state.std(0) + 1e-6))


def train_head(
    model: WorldModel, latents: Tensor, data: Interaction, rows: np.ndarray, num_steps: int, batch_size: int,
    lr: float, rng: np.random.Generator, log: TrainingLog,
) -> None:  # fmt: skip
    """Train the head in place; a quarter of each batch are the rows with the highest scores.

    Where success begins decides what is kept as a demonstration, and such rows are rare.
    """
    state = (torch.from_numpy(data.state) - model.state_mean) / model.state_scale
    score, scored = torch.from_numpy(data.score), torch.from_numpy(data.scored).float()
    best = _best_rows(data, rows)

    def loss_at(step: int) -> Tensor:
        chosen = torch.from_numpy(
            np.concatenate([rng.choice(rows, batch_size - batch_size // 4), rng.choice(best, batch_size // 4)])
        )
        z = latents[chosen].float()
        noise = _LATENT_NOISE * torch.rand(len(z), 1, 1, 1)
        out = model.head(z + noise * torch.randn_like(z))
        state_loss = F.smooth_l1_loss(out[:, :-1], state[chosen], beta=0.1)
        score_loss = (F.smooth_l1_loss(out[:, -1], score[chosen], beta=0.05, reduction="none") * scored[chosen]).mean()
        return state_loss + _SCORE_WEIGHT * score_loss

    optimise([model.head], loss_at, num_steps, lr, "head", log)


def _best_rows(data: Interaction, rows: np.ndarray) -> np.ndarray:
    """The tenth of the scored rows with the highest scores."""
    scored = rows[data.scored[rows]]
    best: np.ndarray = scored[np.argsort(data.score[scored])[-max(1, len(scored) // 10) :]]
    return best


def read_all(model: WorldModel, latents: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """State (R, S) and score (R,) read from latents (R, C, H, W)."""
    with torch.inference_mode():
        parts = [model.read(part.float()) for part in latents.split(256)]
    state, score = (torch.cat(values).numpy() for values in zip(*parts, strict=True))
    return state, score


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
