"""What trust is worth: how doubt and errors stand to what really happened, on held-out episodes."""

from __future__ import annotations

import numpy as np
import torch

from .action_following import read_actions
from .evaluation import one_step_cycle_errors
from .model import WorldModel
from .sequences import Sequences
from .trust import MEMORY, TOLERANCE, more_doubt

_MOST_ROWS = 2000


def calibrate_trust(model: WorldModel, sequences: Sequences, rows: np.ndarray) -> None:
    """Set the model's trust in place, from what it predicts after these rows (R,) of held-out episodes."""
    followed = rows[sequences.timeline.has_next(rows)]
    model.trust.learn_drawing(one_step_cycle_errors(model, sequences, some(followed)))
    model.trust.learn_motion(*doubts(model, sequences, rows))
    if model.inverse_dynamics is not None:
        begins = sequences.timeline.is_first(followed)
        model.trust.learn_following(*read_actions(model.inverse_dynamics, sequences, followed), begins)


@torch.inference_mode()
def doubts(model: WorldModel, sequences: Sequences, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Roll the dynamics on recorded actions from rows (R,), for as many steps as doubt lasts if episodes are so long.

    Returns:
        Doubts (N,) at the end of the rollouts, and whether each ended within the tolerance of what happened (N,).
    """
    length = min(MEMORY, int(sequences.timeline.rows_left(rows).max()))
    rows = some(rows[sequences.timeline.rows_left(rows) >= length])
    vectors, doubt = sequences.vector_history(rows), torch.zeros(len(rows))
    for step in range(length):
        vector, new = model.predict_vector(vectors, sequences.action_history(rows + step))
        vectors = torch.cat([vectors[:, 1:], vector[:, None]], 1)
        doubt = more_doubt(doubt, new)
    error = (vectors[:, -1] - sequences.vectors[torch.from_numpy(rows + length)]).abs().amax(1)
    return doubt.numpy(), (error < TOLERANCE).numpy()


def some(rows: np.ndarray) -> np.ndarray:
    """About 2,000 of these rows, evenly spread."""
    return rows[:: max(1, len(rows) // _MOST_ROWS)]
