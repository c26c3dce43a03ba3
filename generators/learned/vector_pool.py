"""Rollouts of vectors that go on from one training step to the next, so that their dynamics meets its own drift."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .model import WorldModel
from .timeline import Timeline
from .vector_dynamics import keep_on_circles

#: Mean number of steps of a rollout.
_LENGTH = 96
#: A rollout that is further off starts anew: its target would ask for a jump.
_STRAYED = 0.05


class VectorPool:
    """P rollouts of each of the M members of a dynamics, with real vectors as targets however far they have drifted.

    A training step graded over a few steps from a real start never sees what a hundred steps add up to. Compare
    data as demonstrator (Venkatraman et al., AAAI 2015).

    Args:
        model: its dynamics of vectors is in training.
        vectors: (R, D) of the data.
        timeline: the episodes to learn from.
        draw: gives P rows to start from for each member, (M, P).
        rng: of the training stage.
    """

    def __init__(
        self, model: WorldModel, vectors: Tensor, timeline: Timeline, draw: Callable[[], np.ndarray],
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self._model, self._vectors, self._timeline, self._draw, self._rng = model, vectors, timeline, draw, rng
        # By the labels, if there are any: a robot's own motion is easily foretold.
        self._judged = slice(model.spec.state.size if model.spec.labels else 0, None)
        self.rows = draw()
        self.history = self._real(self.rows)

    @torch.no_grad()
    def go_on(self, history: Tensor, num_steps: int) -> None:
        """Take what rollouts came to (M, P, 2, D) after so many steps; start anew where that is due."""
        history = torch.stack([self._on_circles(history[:, :, at]) for at in (0, 1)], 2)
        rows = self.rows + num_steps
        error = (history[:, :, -1] - self._vectors[torch.from_numpy(rows)])[..., self._judged]
        due = self._rng.random(rows.shape) < num_steps / _LENGTH
        due |= self._timeline.rows_left(rows.ravel()).reshape(rows.shape) < num_steps
        due |= error.abs().amax(-1).numpy() > _STRAYED
        fresh = self._draw()
        self.rows = np.where(due, fresh, rows)
        self.history = torch.where(torch.from_numpy(due)[..., None, None], self._real(fresh), history)

    def state_dict(self) -> dict[str, Any]:
        """Where the rollouts are."""
        return {"rows": torch.from_numpy(self.rows), "history": self.history}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go back there."""
        self.rows, self.history = state_dict["rows"].numpy(), state_dict["history"]

    def _real(self, rows: np.ndarray) -> Tensor:
        return self._vectors[self._timeline.window(rows.ravel(), 2)].unflatten(0, rows.shape)

    def _on_circles(self, vectors: Tensor) -> Tensor:
        flat = vectors.flatten(0, 1)
        return keep_on_circles(flat, torch.full_like(flat, torch.nan), self._model.cosines).view_as(vectors)
