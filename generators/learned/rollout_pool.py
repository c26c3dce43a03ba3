"""Training on the model's own predictions at the price of one step."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .dynamics import follow
from .sequences import Sequences


class RolloutPool:
    """Rollouts that go on from one training step to the next, so that the model meets its own drift.

    Each slot keeps its own last predictions as history and gives one graded step per training step. It starts
    anew from a real frame with probability 1 / length, at the end of its episode, and once it has strayed so far
    that its target would ask for a jump (which teaches blur). Compare Stochastic PushForward, arXiv 2508.18565.
    """

    def __init__(self, sequences: Sequences, num_slots: int, rng: np.random.Generator) -> None:
        self.sequences, self._rng = sequences, rng
        self.rows = sequences.draw(num_slots, rng)
        self.history = sequences.history(self.rows)

    def follow(self, predicted: Tensor, limit: float, length: float) -> None:
        """Take the predictions (P, C, H, W) as the next history, and start anew where that is due.

        Args:
            limit: a root mean square error of the latent above it starts the slot anew.
            length: mean number of steps of a rollout.
        """
        error = (predicted - self.sequences.following(self.rows)).square().mean((1, 2, 3)).sqrt()
        self.history = follow(self.history, predicted, self.sequences.anchored)
        self.rows = self.rows + 1
        due = self._rng.random(len(self.rows)) < 1 / length
        due |= ~self.sequences.timeline.has_next(self.rows) | (error > limit).numpy()
        if due.any():
            fresh = self.sequences.draw(int(due.sum()), self._rng)
            self.rows[due] = fresh
            self.history[torch.from_numpy(due)] = self.sequences.history(fresh)

    def state_dict(self) -> dict[str, Any]:
        """Where each slot is, and its history."""
        return {"rows": torch.from_numpy(self.rows), "history": self.history}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go back there."""
        self.rows, self.history = state_dict["rows"].numpy(), state_dict["history"]
