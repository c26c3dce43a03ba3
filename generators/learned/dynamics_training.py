"""Training of the dynamics on frozen latents: single steps from real histories, and rollouts from its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .consistency import NoisyChange, Objective
from .crops import Crops, draw_crops
from .model import WorldModel
from .optimisation import Check, autocast, optimise
from .rollout_pool import RolloutPool
from .sequences import Sequences
from .training_config import DynamicsTrainingConfig
from .training_stage import TrainingStage

#: A cell moves when a channel of it changes by more than this; latents lie in [-1, 1].
_MOTION = 0.03
_WEIGHT = 4.0
_GATE_WEIGHT = 0.01
#: A rollout starts anew at this many times the usual error of one step.
_STRAYED = 5.0


def train_dynamics(
    model: WorldModel, sequences: Sequences, config: DynamicsTrainingConfig, stage: TrainingStage,
    check: Check | None = None,
) -> None:  # fmt: skip
    """Train the dynamics in place: to draw frames from vectors where there are labels, else to go on from frames."""
    if model.draws_anew:
        _train_to_draw(model, sequences, config, stage, check)
    else:
        _train_to_go_on(model, sequences, config, stage, check)


def _train_to_draw(
    model: WorldModel, sequences: Sequences, config: DynamicsTrainingConfig, stage: TrainingStage,
    check: Check | None = None,
) -> None:  # fmt: skip
    """Single frames in windows around what differs from the background; the history is hidden."""
    rng, noise = stage.rng, stage.noise
    with torch.no_grad():
        background = model.autoencoder.encode(model.autoencoder.background[None])
    hidden = torch.ones(config.batch_size)
    objective = Objective(model.samples, noise)

    def loss_at(step: int) -> Tensor:
        rows = sequences.draw(config.batch_size, rng)
        difference = (sequences.following(rows) - background).abs().amax(1)
        crops = draw_crops(difference, config.crop, noise)
        target = sequences.following(rows, crops)
        history = torch.zeros(target.shape).unsqueeze(1).expand(-1, model.config.num_latents, -1, -1, -1)
        vector, actions, task = sequences.following_vector(rows), sequences.action_history(rows), sequences.task(rows)

        def draw(noisy: NoisyChange | None) -> tuple[Tensor, Tensor]:
            with autocast():
                return model.dynamics(history, vector, actions, hidden, crops, task, noisy)

        (drawn, _), aim, weight = objective.compare(draw, target, target, step / config.num_steps)
        return weight * _huber(drawn, aim, crops.of_samples(difference > _MOTION))

    optimise([model.dynamics], loss_at, config.num_steps, config.lr, stage, check=check)


def _train_to_go_on(
    model: WorldModel, sequences: Sequences, config: DynamicsTrainingConfig, stage: TrainingStage,
    check: Check | None = None,
) -> None:  # fmt: skip
    """Single steps from real histories and, from some time on, rollouts from the model's own."""
    pool = RolloutPool(sequences, config.num_rollouts, stage.rng)
    singles = _SingleSteps(model, sequences, config, stage)
    objective = singles.objective

    def loss_at(step: int) -> Tensor:
        done = step / config.num_steps
        loss = singles.loss(done)
        if done < config.rollouts_from:
            return loss
        length = max(1.0, config.rollout_length * (0.2 + 0.8 * done))
        return loss + _rollout_loss(model, pool, objective, _STRAYED * singles.usual_error, length, done)

    optimise([model.dynamics], loss_at, config.num_steps, config.lr, stage, [pool, singles], check)


class _SingleSteps:
    """Transitions from real histories, in windows around what moves; keeps the usual error of a step."""

    def __init__(
        self, model: WorldModel, sequences: Sequences, config: DynamicsTrainingConfig, stage: TrainingStage
    ) -> None:
        self._model, self._sequences, self._config = model, sequences, config
        self._rng, self._noise = stage.rng, stage.noise
        self.objective = Objective(model.samples, stage.noise)
        self.usual_error = 1.0

    def loss(self, done: float) -> Tensor:
        """The loss of a new batch when a share `done` of the training is over."""
        rows = self._sequences.draw(self._config.batch_size, self._rng)
        change = self._sequences.change(rows)
        crops = draw_crops(change, self._config.crop, self._noise)
        history, noise = self._noisy(self._sequences.history(rows, crops))
        target, moving = self._sequences.following(rows, crops), crops.of_samples(change > _MOTION)
        step = _Step(self._model, self._sequences, rows, history, noise, crops)
        loss, predicted = step.loss(self.objective, target, moving, done)
        with torch.no_grad():
            # A window holds most of its frame's error; the share of the frame it covers turns it into the frame's.
            share = moving[0].numel() / change[0].numel()
            error = ((predicted - target).square().mean() * share).sqrt().item()
        self.usual_error = 0.98 * self.usual_error + 0.02 * error
        return loss

    def state_dict(self) -> dict[str, float]:
        """The usual error."""
        return {"usual_error": self.usual_error}

    def load_state_dict(self, state_dict: dict[str, float]) -> None:
        """Take up a usual error."""
        self.usual_error = state_dict["usual_error"]

    def _noisy(self, history: Tensor) -> tuple[Tensor, Tensor]:
        """White noise of a random level, none on a quarter of the samples; also the levels (B,)."""
        shape = (len(history),)
        noise = self._config.history_noise * torch.rand(shape, generator=self._noise)
        noise = noise * (torch.rand(shape, generator=self._noise) < 0.75)
        white = torch.randn(history.shape, generator=self._noise)
        return history + noise[:, None, None, None, None] * white, noise


def _rollout_loss(
    model: WorldModel, pool: RolloutPool, objective: Objective, limit: float, length: float, done: float
) -> Tensor:
    """The loss of one step of each rollout, which then goes on from what was predicted."""
    rows, sequences = pool.rows, pool.sequences
    moving = (sequences.change(rows) > _MOTION)[:, None].float()
    step = _Step(model, sequences, rows, pool.history, torch.zeros(len(rows)))
    loss, predicted = step.loss(objective, sequences.following(rows), moving, done, begins=True)
    pool.follow(predicted.detach(), limit, length)
    return loss


@dataclass(frozen=True)
class _Step:
    """The steps after `rows` (B,) from a history and its noise level, or from windows of it."""

    model: WorldModel
    sequences: Sequences
    rows: np.ndarray
    history: Tensor
    noise: Tensor
    crops: Crops | None = None

    def __call__(self, noisy: NoisyChange | None) -> tuple[Tensor, Tensor]:
        """The next latent and the gate's logits."""
        rows, sequences = self.rows, self.sequences
        vector, actions, task = sequences.following_vector(rows), sequences.action_history(rows), sequences.task(rows)
        with autocast():
            delta, gate = self.model.dynamics(self.history, vector, actions, self.noise, self.crops, task, noisy)
        return self.model.advance(self.history[:, -1], delta, gate, exact=False), gate

    def loss(
        self, objective: Objective, target: Tensor, moving: Tensor, done: float, begins: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Huber loss and the gate's cross-entropy; also the prediction."""
        change = target - self.history[:, -1]
        (predicted, gate), aim, weight = objective.compare(self, change, target, done, begins)
        loss = weight * _huber(predicted, aim, moving)
        if self.model.config.gate:
            opened = F.max_pool2d(moving, 3, stride=1, padding=1)
            loss = loss + _GATE_WEIGHT * F.binary_cross_entropy_with_logits(gate, opened)
        return loss, predicted


def _huber(predicted: Tensor, target: Tensor, matters: Tensor) -> Tensor:
    """Huber loss, five times as heavy in cells that matter (B, 1, H, W) and those beside them.

    Not L1: under doubt the median of a thin arm is the background, and the arm is lost.
    """
    near = F.max_pool2d(matters, 3, stride=1, padding=1)
    return 2 * ((1 + _WEIGHT * near) * F.smooth_l1_loss(predicted, target, beta=0.1, reduction="none")).mean()
