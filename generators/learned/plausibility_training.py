"""Training of what says which labels occur."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from .drift import Drift
from .model import WorldModel
from .optimisation import optimise
from .plausibility import Plausibility, PlausibilityNet, plausibility_loss
from .timeline import Timeline
from .training_config import VectorTrainingConfig
from .training_stage import Training, TrainingStage
from .vector_training import STILL

#: Open loops by which plausibility is judged, and beyond which error one is no further off than another.
_JUDGED_STEPS, _NUM_JUDGED, _MISSED = 128, 256, 0.5
#: Errors may be larger by this with plausibility, whose use shows on longer ways.
_HARMFUL = 1.25


def learn_what_occurs(
    model: WorldModel, plausibility: Plausibility, vectors: Tensor, actions: Tensor, timeline: Timeline,
    config: VectorTrainingConfig, training: Training,
) -> None:  # fmt: skip
    """Train the plausibility of a model whose dynamics of vectors is trained, in place."""
    labels, everything = slice(plausibility.state_size, None), slice(None)
    # In this order, so that the second learns of what the first lets pass.
    for name, net, sees, evenly in (
        ("labels alone", plausibility.alone, labels, 1.0),
        # Labels change where the robot is beside them: drawn evenly alone, it would seem to be nowhere else.
        ("labels beside state", plausibility.beside, everything, 0.3),
    ):
        if net is None:
            continue
        stage = training.stage(name)
        train_plausibility(model, net, sees, evenly, vectors, actions, timeline, config, stage)


def train_plausibility(
    model: WorldModel, net: PlausibilityNet, sees: slice, evenly: float, vectors: Tensor, actions: Tensor,
    timeline: Timeline, config: VectorTrainingConfig, stage: TrainingStage,
) -> None:  # fmt: skip
    """Train one of its networks in place, against disturbed labels and those that the world drifts to by itself.

    Args:
        sees: which numbers of a vector the network sees.
        evenly: share of the draws that goes evenly over all labels that occurred, however long each stayed as it was:
            else the network learns by heart the few places where something lay for long.
    """
    rows, drift = timeline.rows_with_next(0), Drift(model, vectors, actions, timeline, stage.rng)
    labels = vectors[torch.from_numpy(rows)][:, model.spec.state.size :]
    changed = torch.cat([torch.ones(1, dtype=torch.bool), ((labels[1:] - labels[:-1]).abs() > STILL).any(1)])
    different = rows[changed.numpy()]

    def loss_at(step: int) -> Tensor:
        drift.go_on()
        count = 3 * config.batch_size
        chosen = np.where(
            stage.rng.random(count) < evenly, stage.rng.choice(different, count), stage.rng.choice(rows, count)
        )
        real, origins = vectors[torch.from_numpy(chosen), sees].split([2 * config.batch_size, config.batch_size])
        return plausibility_loss(net, real, origins, drift.draw(config.batch_size)[:, sees], stage.noise)

    optimise([net], loss_at, config.plausibility_steps, config.lr, stage, carried=[drift])


def leave_out_if_harmful(
    model: WorldModel, plausibility: Plausibility, vectors: Tensor, actions: Tensor, held_out: Timeline
) -> None:
    """Forget what is plausible if open loops on held-out episodes are worse for it, as on few data, and say so."""
    settled = _mean_error(model, model.predict_vector, vectors, actions, held_out)
    guessed = _mean_error(model, model.guess_vector, vectors, actions, held_out)
    if settled > _HARMFUL * guessed:
        logging.getLogger(__name__).warning(
            "plausibility makes predictions on held-out episodes worse (mean error %.3f instead of %.3f) and is left "
            "out; record more episodes", settled, guessed,
        )  # fmt: skip
        plausibility.forget()


@torch.inference_mode()
def _mean_error(
    model: WorldModel, predict: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]], vectors: Tensor, actions: Tensor,
    timeline: Timeline,
) -> float:  # fmt: skip
    """Of the worst number of the vector after 128 steps of open loop, or as many as there are; a miss is a miss."""
    length = min(_JUDGED_STEPS, int(timeline.rows_left(timeline.rows_with_next(0)).max()))
    rows = timeline.rows_with_next(length)
    rows = rows[:: max(1, len(rows) // _NUM_JUDGED)]
    history = vectors[timeline.window(rows, 2)]
    for step in range(length):
        vector, _ = predict(history, actions[timeline.window(rows + step, 2)])
        history = torch.stack([history[:, -1], vector], 1)
    error = (history[:, -1] - vectors[torch.from_numpy(rows + length)]).abs().amax(1)
    return float(error.clamp(max=_MISSED).mean())
