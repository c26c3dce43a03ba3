"""Whether a world does what it is told: how much worse it is under the actions of another episode."""

from __future__ import annotations

import numpy as np

from .evaluation import roll
from .interaction import Interaction
from .model import WorldModel
from .sequences import Sequences

#: Steps after which the frames are compared.
_STEPS = 16


def shuffled_action_ratio(model: WorldModel, data: Interaction, sequences: Sequences, rows: np.ndarray) -> float | None:
    """The squared error of the frames 16 steps on under the next episode's actions, over that under their own.

    A world that does not listen has 1; reality itself would have infinity.

    Args:
        rows: (E,) first rows of episodes; None is returned where fewer than two last for 16 steps.
    """
    ends = data.starts[np.searchsorted(data.starts, rows, side="right")]
    rows = rows[rows + _STEPS < ends]
    if len(rows) < 2:
        return None
    real = data.frames[rows + _STEPS].astype(np.float64)
    own, others = (_error(model, sequences, rows, acted, real) for acted in (rows, np.roll(rows, 1)))
    return others / max(own, 1e-9)


def _error(
    model: WorldModel, sequences: Sequences, rows: np.ndarray, action_rows: np.ndarray, real: np.ndarray
) -> float:
    *_, (_, latents) = roll(model, sequences, rows, action_rows, _STEPS)
    return float(((model.decode(latents) - real) ** 2).mean())
