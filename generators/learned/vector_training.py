"""Training of what goes by numbers: the dynamics of state and labels, and the score that follows from them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .model import WorldModel, of_task
from .optimisation import Check, optimise
from .timeline import Timeline
from .training_config import VectorTrainingConfig
from .training_stage import TrainingStage
from .vector_dynamics import advance_vector
from .vector_pool import VectorPool

_GATE_WEIGHT = 0.01
#: Numbers lie in [-1, 1]; what changes by less in a step is taken to stay.
STILL = 5e-6
#: Rows in which something besides the robot moves are rarer and harder.
_MOVING_WEIGHT = 3.0


def train_vector_dynamics(
    model: WorldModel, vectors: Tensor, actions: Tensor, timeline: Timeline, config: VectorTrainingConfig,
    stage: TrainingStage, check: Check | None = None,
) -> None:  # fmt: skip
    """Train the dynamics of vectors (R, D) in place: single steps at first, then rollouts, half of them long ones."""
    longest = next(length for length in (config.rollout_length, 1) if len(timeline.rows_with_next(length)))
    rows = timeline.rows_with_next(longest)
    labels_move = (vectors[1:] - vectors[:-1])[:, model.spec.state.size :].abs().sum(1) > STILL
    weight = 1 + (_MOVING_WEIGHT - 1) * labels_move[torch.from_numpy(rows)].numpy()
    weight = np.cumsum(weight / weight.sum())

    num_members, num_pooled = model.vector_dynamics.num_members, config.batch_size // 2

    def draw(count: int) -> np.ndarray:
        """(M, count): each member learns from rows of its own."""
        place = np.searchsorted(weight, stage.rng.random((num_members, count)))
        return rows[np.minimum(place, len(rows) - 1)]

    pool = VectorPool(model, vectors, timeline, lambda: draw(num_pooled), stage.rng)

    def loss_at(step: int) -> Tensor:
        if step < config.rollouts_from * config.num_steps:
            chosen = draw(config.batch_size)
            return _rollout(model, vectors, actions, timeline, chosen, _window(timeline, vectors, chosen), 1)[0]
        fresh = draw(config.batch_size - num_pooled)
        chosen = np.concatenate([fresh, pool.rows], 1)
        history = torch.cat([_window(timeline, vectors, fresh), pool.history], 1)
        loss, history = _rollout(model, vectors, actions, timeline, chosen, history, longest)
        pool.go_on(history[:, fresh.shape[1] :].detach(), longest)
        return loss

    optimise([model.vector_dynamics], loss_at, config.num_steps, config.lr, stage, [pool], check)


def _window(timeline: Timeline, numbers: Tensor, rows: np.ndarray) -> Tensor:
    """(M, B, 2, ...): the numbers of the rows before and of the rows (M, B) themselves."""
    return numbers[timeline.window(rows.ravel(), 2)].unflatten(0, rows.shape)


def _rollout(
    model: WorldModel, vectors: Tensor, actions: Tensor, timeline: Timeline, rows: np.ndarray, history: Tensor,
    length: int,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Rollouts of each member on recorded actions.

    Args:
        rows: (M, B) where they begin.
        history: (M, B, 2, D) what they begin with, real or not.

    Returns:
        The mean loss over members and steps, and the last history.
    """
    loss = history.new_zeros(())
    for step in range(length):
        change, gate = model.vector_dynamics(history, _window(timeline, actions, rows + step))
        present, target = vectors[torch.from_numpy(rows + step)], vectors[torch.from_numpy(rows + step + 1)]
        predicted = advance_vector(history[:, :, -1], change, gate)
        moves = ((target - present).abs() > STILL).float()
        loss = loss + 20 * F.smooth_l1_loss(predicted, target, beta=0.005)
        loss = loss + _GATE_WEIGHT * F.binary_cross_entropy_with_logits(gate, moves)
        history = torch.stack([history[:, :, -1], predicted], 2)
    return loss / length, history


@torch.inference_mode()
def vectors_after_the_end(
    model: WorldModel, vectors: Tensor, actions: Tensor, last: np.ndarray, timeline: Timeline
) -> Tensor:
    """(E, D) vectors predicted to follow rows `last` (E,), whose next frame was not recorded but was scored.

    An episode that ends with its success has its one successful frame there.
    """
    return model.predict_vector(vectors[timeline.window(last, 2)], actions[timeline.window(last, 2)])[0]


def train_score_head(
    model: WorldModel, vectors: Tensor, score: Tensor, task: Tensor, num_steps: int, batch_size: int, lr: float,
    stage: TrainingStage,
) -> None:  # fmt: skip
    """Train the head that reads the score (K,) from vectors (K, D), of tasks (K,).

    Half of each batch are the tenth with the best scores: where success begins decides what is kept as a
    demonstration, and such rows are rare.
    """
    best = np.argsort(score.numpy())[-max(1, len(score) // 10) :]

    def loss_at(step: int) -> Tensor:
        half = batch_size // 2
        any_of_all = stage.rng.integers(len(score), size=half)
        chosen = torch.from_numpy(np.concatenate([any_of_all, stage.rng.choice(best, half)]))
        return 20 * F.smooth_l1_loss(of_task(model.score_head(vectors[chosen]), task[chosen]), score[chosen], beta=0.02)

    optimise([model.score_head], loss_at, num_steps, lr, stage)
