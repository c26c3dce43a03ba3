"""Training of what goes by numbers: the dynamics of state and labels, and the score that follows from them."""

from __future__ import annotations

import logging

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .model import WorldModel, of_task
from .optimisation import Check, optimise
from .plausibility import Plausibility, plausibility_loss
from .timeline import Timeline
from .training_config import VectorTrainingConfig
from .training_stage import TrainingStage
from .vector_dynamics import advance_vector

_GATE_WEIGHT = 0.01
#: Numbers lie in [-1, 1]; what changes by less in a step is taken to stay.
_STILL = 5e-6
#: On 27,000 rows of PushT it took 6 % of the rows held out for odd, and worlds went astray by it; on 194,000 under 2 %.
_MOST_ASTRAY = 0.03
#: Share of the draws that goes evenly over different labels.
_EVENLY = 0.3
#: Rows in which something besides the robot moves are rarer and harder.
_MOVING_WEIGHT = 3.0


def train_vector_dynamics(
    model: WorldModel, vectors: Tensor, actions: Tensor, timeline: Timeline, config: VectorTrainingConfig,
    stage: TrainingStage, check: Check | None = None,
) -> None:  # fmt: skip
    """Train the dynamics of the vectors (R, D) in place: single steps at first, then rollouts of a few."""
    longest = next(length for length in (config.rollout_length, 1) if len(timeline.rows_with_next(length)))
    rows = timeline.rows_with_next(longest)
    labels_move = (vectors[1:] - vectors[:-1])[:, model.spec.state.size :].abs().sum(1) > _STILL
    weight = 1 + (_MOVING_WEIGHT - 1) * labels_move[torch.from_numpy(rows)].numpy()
    weight = np.cumsum(weight / weight.sum())

    def loss_at(step: int) -> Tensor:
        # Each member learns from rows of its own.
        place = np.searchsorted(weight, stage.rng.random((model.vector_dynamics.num_members, config.batch_size)))
        chosen = rows[np.minimum(place, len(rows) - 1)]
        length = 1 if step < config.rollouts_from * config.num_steps else longest
        return _rollout_loss(model, vectors, actions, timeline, chosen, length)

    optimise([model.vector_dynamics], loss_at, config.num_steps, config.lr, stage, check=check)


def train_plausibility(
    plausibility: Plausibility, vectors: Tensor, timeline: Timeline, held_out: np.ndarray, config: VectorTrainingConfig,
    stage: TrainingStage,
) -> None:  # fmt: skip
    """Train what tells vectors that occur (R, D) from those that do not, in place.

    A share of the draws goes evenly over all labels that occurred, however long each stayed as it was: else the network
    learns by heart the few places where something lay for long. On few data it learns all by heart: what takes too many
    of the rows held out for odd is forgotten.
    """
    rows = timeline.rows_with_next(0)
    labels = vectors[torch.from_numpy(rows)][:, plausibility.state_size :]
    changed = torch.cat([torch.ones(1, dtype=torch.bool), ((labels[1:] - labels[:-1]).abs() > _STILL).any(1)])
    stay = torch.cumsum(changed, 0) - 1
    alike = 1 / torch.bincount(stay)[stay].numpy()
    weight = np.cumsum(_EVENLY * alike / alike.sum() + (1 - _EVENLY) / len(rows))

    def loss_at(step: int) -> Tensor:
        place = np.searchsorted(weight, stage.rng.random(4 * config.batch_size))
        chosen = rows[np.minimum(place, len(rows) - 1)]
        return plausibility_loss(plausibility, vectors[torch.from_numpy(chosen)], stage.noise)

    optimise([plausibility], loss_at, config.plausibility_steps, config.lr, stage)
    astray = plausibility.share_astray(vectors[torch.from_numpy(held_out)])
    if astray > _MOST_ASTRAY:
        logging.getLogger(__name__).warning(
            "plausibility takes %.0f %% of the labels held out for impossible, and is left out; record more episodes",
            100 * astray,
        )
        plausibility.forget()


def _rollout_loss(
    model: WorldModel, vectors: Tensor, actions: Tensor, timeline: Timeline, rows: np.ndarray, length: int
) -> Tensor:
    """Mean over the members of the loss of rollouts that begin at rows (M, B)."""

    def window(numbers: Tensor, at: np.ndarray) -> Tensor:
        """(M, B, 2, ...): the numbers of the rows before and of the rows themselves."""
        return numbers[timeline.window(at.ravel(), 2)].unflatten(0, at.shape)

    history = window(vectors, rows)
    loss = history.new_zeros(())
    for step in range(length):
        change, gate = model.vector_dynamics(history, window(actions, rows + step))
        present, target = vectors[torch.from_numpy(rows + step)], vectors[torch.from_numpy(rows + step + 1)]
        predicted = advance_vector(history[:, :, -1], change, gate)
        moves = ((target - present).abs() > _STILL).float()
        loss = loss + 20 * F.smooth_l1_loss(predicted, target, beta=0.005)
        loss = loss + _GATE_WEIGHT * F.binary_cross_entropy_with_logits(gate, moves)
        history = torch.stack([history[:, :, -1], predicted], 2)
    return loss / length


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
