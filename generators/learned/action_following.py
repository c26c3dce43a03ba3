"""Whether a world does what it is told: under the actions of another episode, and by actions read back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from .evaluation import roll
from .interaction import Interaction
from .inverse_dynamics import InverseDynamics
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


@torch.inference_mode()
def misreadings(model: WorldModel, sequences: Sequences, rows: np.ndarray) -> dict[str, float] | None:
    """Mean absolute errors of actions (scaled, so that 2 is their whole range) read back from the steps after `rows`.

    Returns:
        `real` of real video and `world` of what the world makes of these rows, one step each; None where nothing in it
        reads actions back.
    """
    inverse = model.inverse_dynamics
    if inverse is None:
        return None

    def predicted(part: np.ndarray) -> Tensor:
        latents, vectors = sequences.history(part), sequences.vector_history(part)
        return model.predict(latents, vectors, sequences.action_history(part), sequences.task(part))[0]

    def error(read: Tensor, told: Tensor) -> float:
        return float((read - told).abs().mean())

    return {
        "real": error(*read_actions(inverse, sequences, rows)),
        "world": error(*read_actions(inverse, sequences, rows, predicted)),
    }


@torch.inference_mode()
def read_actions(
    inverse: InverseDynamics, sequences: Sequences, rows: np.ndarray,
    after: Callable[[np.ndarray], Tensor] | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Actions (R, A) read back from the steps after `rows`, and those commanded, both scaled.

    Args:
        after: gives the latents that followed some rows; those of the real video if None.
    """
    parts = np.array_split(rows, -(-len(rows) // 256))
    read = [inverse(sequences.history(part)[:, -1], (after or sequences.following)(part)) for part in parts]
    return torch.cat(read), sequences.action_history(rows)[:, -1]
