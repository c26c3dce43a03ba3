"""Training of what goes by numbers: the dynamics of state and labels, and the score that follows from them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .model import WorldModel
from .optimisation import TrainingLog, optimise
from .timeline import Timeline
from .vector_dynamics import advance_vector

_GATE_WEIGHT = 0.01
#: Numbers lie in [-1, 1]; what changes by less in a step is taken to stay.
_STILL = 5e-6
#: From here on, as a share of the steps, the model goes on from its own predictions.
_ROLLOUTS_FROM = 0.7
_ROLLOUT_LENGTH = 4
#: Rows in which something besides the robot moves are rarer and harder.
_MOVING_WEIGHT = 3.0


def train_vector_dynamics(
    model: WorldModel, vectors: Tensor, actions: Tensor, timeline: Timeline, num_steps: int, batch_size: int, lr: float,
    rng: np.random.Generator, log: TrainingLog,
) -> None:  # fmt: skip
    """Train the dynamics of the vectors (R, D) in place: single steps at first, then rollouts of a few."""
    longest = next(length for length in (_ROLLOUT_LENGTH, 1) if len(timeline.rows_with_next(length)))
    rows = timeline.rows_with_next(longest)
    labels_move = (vectors[1:] - vectors[:-1])[:, model.spec.state.size :].abs().sum(1) > _STILL
    weight = 1 + (_MOVING_WEIGHT - 1) * labels_move[torch.from_numpy(rows)].numpy()
    weight = np.cumsum(weight / weight.sum())

    def loss_at(step: int) -> Tensor:
        place = np.searchsorted(weight, rng.random(batch_size))
        chosen = rows[np.minimum(place, len(rows) - 1)]
        length = 1 if step < _ROLLOUTS_FROM * num_steps else longest
        return _rollout_loss(model, vectors, actions, timeline, chosen, length)

    optimise([model.vector_dynamics], loss_at, num_steps, lr, "state and labels", log)


def _rollout_loss(
    model: WorldModel, vectors: Tensor, actions: Tensor, timeline: Timeline, rows: np.ndarray, length: int
) -> Tensor:
    history = vectors[timeline.window(rows, 2)]
    loss = history.new_zeros(())
    for step in range(length):
        change, gate = model.vector_dynamics(history, actions[timeline.window(rows + step, 2)])
        present, target = vectors[torch.from_numpy(rows + step)], vectors[torch.from_numpy(rows + step + 1)]
        predicted = advance_vector(history[:, -1], change, gate, exact=False)
        moves = ((target - present).abs() > _STILL).float()
        loss = loss + 20 * F.smooth_l1_loss(predicted, target, beta=0.005)
        loss = loss + _GATE_WEIGHT * F.binary_cross_entropy_with_logits(gate, moves)
        history = torch.stack([history[:, -1], predicted], 1)
    return loss / length


@torch.inference_mode()
def vectors_after_the_end(
    model: WorldModel, vectors: Tensor, actions: Tensor, last: np.ndarray, timeline: Timeline
) -> Tensor:
    """(E, D) vectors predicted to follow rows `last` (E,), whose next frame was not recorded but was scored.

    An episode that ends with its success has its one successful frame there.
    """
    history = vectors[timeline.window(last, 2)]
    change, gate = model.vector_dynamics(history, actions[timeline.window(last, 2)])
    return advance_vector(history[:, -1], change, gate)


def train_score_head(
    model: WorldModel, vectors: Tensor, score: Tensor, num_steps: int, batch_size: int, lr: float,
    rng: np.random.Generator, log: TrainingLog,
) -> None:  # fmt: skip
    """Train the head that reads the score (K,) from vectors (K, D).

    Half of each batch are the tenth with the best scores: where success begins decides what is kept as a
    demonstration, and such rows are rare.
    """
    best = np.argsort(score.numpy())[-max(1, len(score) // 10) :]

    def loss_at(step: int) -> Tensor:
        half = batch_size // 2
        chosen = torch.from_numpy(np.concatenate([rng.integers(len(score), size=half), rng.choice(best, half)]))
        return 20 * F.smooth_l1_loss(model.score_head(vectors[chosen])[:, 0], score[chosen], beta=0.02)

    optimise([model.score_head], loss_at, num_steps, lr, "score", log)
