"""Training of the dynamics on frozen latents: single steps from real histories, and rollouts from its own."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .dynamics import advance
from .model import WorldModel
from .optimisation import TrainingLog, autocast, optimise
from .rollout_pool import RolloutPool
from .sequences import Sequences

#: Largest standard deviation of the noise on a real history, three to five times the error of one step.
_HISTORY_NOISE = 0.12
#: A cell moves when a channel of it changes by more than this; latents lie in [-1, 1].
_MOTION = 0.03
_MOTION_WEIGHT = 10.0
_GATE_WEIGHT = 0.02
#: A rollout starts anew at this many times the usual error of one step.
_STRAYED = 5.0


def train_dynamics(
    model: WorldModel, sequences: Sequences, num_steps: int, batch_size: int, rollout_share: float,
    rollout_length: float, lr: float, rng: np.random.Generator, log: TrainingLog,
) -> RolloutPool:  # fmt: skip
    """Train the dynamics in place.

    Args:
        rollout_share: share of the batch that goes on from the model's own predictions, after a first quarter of
            single steps only.
        rollout_length: mean number of steps of these rollouts at the end; it starts at a quarter of this.

    Returns:
        The pool of rollouts as it stands at the end, for the decoder to learn from.
    """
    pool = RolloutPool(sequences, max(1, round(batch_size * rollout_share)), rng)
    usual = 1.0

    def loss_at(step: int) -> Tensor:
        nonlocal usual
        done = step / num_steps
        rolling = done >= 0.25
        single = sequences.draw(batch_size - len(pool.rows) if rolling else batch_size, rng)
        history, noise = _noisy(sequences.history(single))
        rows = single
        if rolling:
            rows = np.concatenate([single, pool.rows])
            history = torch.cat([history, pool.history])
            noise = torch.cat([noise, torch.zeros(len(pool.rows))])
        target = sequences.following(rows)
        loss, predicted = _loss(model, history, sequences.action_history(rows), noise, target)
        with torch.no_grad():
            error = (predicted[: len(single)] - target[: len(single)]).square().mean().sqrt().item()
            usual = error if step == 0 else 0.98 * usual + 0.02 * error
            if rolling:
                length = rollout_length * (0.25 + 0.75 * (done - 0.25) / 0.75)
                pool.follow(predicted[len(single) :].detach(), _STRAYED * usual, length)
        return loss

    optimise([model.dynamics], loss_at, num_steps, lr, "dynamics", log)
    return pool


def _loss(model: WorldModel, history: Tensor, actions: Tensor, noise: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Charbonnier loss, heavier on cells that move, and the gate's cross-entropy; also the prediction."""
    with autocast():
        delta, gate = model.dynamics(history, actions, noise)
    present = history[:, -1]
    predicted = advance(present, delta, gate, exact=False)
    moving = ((target - present).abs().amax(1, keepdim=True) > _MOTION).float()
    weight = 1 + _MOTION_WEIGHT * F.max_pool2d(moving, 3, stride=1, padding=1)
    charbonnier = ((predicted - target).square() + 1e-4).sqrt() - 1e-2
    gate_loss = F.binary_cross_entropy_with_logits(gate, F.max_pool2d(moving, 3, stride=1, padding=1))
    return (weight * charbonnier).mean() + _GATE_WEIGHT * gate_loss, predicted


def _noisy(history: Tensor) -> tuple[Tensor, Tensor]:
    """White noise of a random level, and a random mix of neighbouring moments: errors are lags as often as grain."""
    noise = torch.rand(len(history)) * _HISTORY_NOISE * (torch.rand(len(history)) < 0.75)
    mixed = history.clone()
    lag = (torch.rand(len(history), 1, 1, 1) - 0.5) * (noise > 0).float()[:, None, None, None]
    mixed[:, -2] += lag * (history[:, -1] - history[:, -2])
    return mixed + noise[:, None, None, None, None] * torch.randn_like(history), noise
