"""What a dynamics makes of vectors when nothing holds it: episodes that it goes on with by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from .model import WorldModel
from .timeline import Timeline

_NUM_SLOTS = 128
#: Mean number of steps before a slot starts anew: long beside an episode, as errors that last take long to add up.
_LENGTH = 1000
#: How many vectors are kept, and how many of each step: some of what was long ago must be among them, or what was
#: once unlearnt comes back.
_MOST_KEPT, _NEW = 32768, 16


class Drift:
    """Vectors from episodes that a world goes on with by itself, on the recorded actions of one episode after another.

    Reality is not so: bodies that the data never shows in a wall come to stand a little in one, and stay.

    Args:
        model: its dynamics is trained; its plausibility may be in training.
        vectors: (R, D) of the data.
        actions: (R, A), scaled.
        timeline: the episodes to take starts and actions from.
        rng: of the training stage.
    """

    def __init__(
        self, model: WorldModel, vectors: Tensor, actions: Tensor, timeline: Timeline, rng: np.random.Generator
    ) -> None:
        self._model, self._vectors, self._actions, self._timeline, self._rng = model, vectors, actions, timeline, rng
        self._rows_to_start = timeline.rows_with_next()
        self._rows = self._draw_rows(_NUM_SLOTS)
        self._history = self._at_rest(self._rows)
        self._kept = vectors[:0]

    @torch.no_grad()
    def go_on(self) -> None:
        """Make one step of all slots and keep some of what comes."""
        actions = self._actions[self._timeline.window(self._rows, 2)]
        vector, _ = self._model.predict_vector(self._history, actions)
        self._history = torch.stack([self._history[:, -1], vector], 1)
        self._keep(vector[torch.from_numpy(self._rng.choice(len(vector), _NEW, replace=False))])
        self._rows = self._rows + 1
        ended = ~self._timeline.has_next(self._rows)
        self._rows[ended] = self._draw_rows(int(ended.sum()))
        anew = self._rng.random(len(vector)) < 1 / _LENGTH
        self._history[torch.from_numpy(anew)] = self._at_rest(self._draw_rows(int(anew.sum())))

    def draw(self, count: int) -> Tensor:
        """(count, D) of the vectors kept; there are some after the first step."""
        return self._kept[torch.from_numpy(self._rng.integers(len(self._kept), size=count))]

    def state_dict(self) -> dict[str, Any]:
        """Where the slots are, and what is kept."""
        return {"rows": torch.from_numpy(self._rows), "history": self._history, "kept": self._kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go back there."""
        self._rows, self._history = state_dict["rows"].numpy(), state_dict["history"]
        self._kept = state_dict["kept"]

    def _keep(self, new: Tensor) -> None:
        if len(self._kept) < _MOST_KEPT:
            self._kept = torch.cat([self._kept, new])
        else:
            self._kept[torch.from_numpy(self._rng.choice(_MOST_KEPT, len(new), replace=False))] = new

    def _draw_rows(self, count: int) -> np.ndarray:
        return self._rng.choice(self._rows_to_start, count)

    def _at_rest(self, rows: np.ndarray) -> Tensor:
        """(N, 2, D): the vectors of these rows, as of something at rest."""
        return self._vectors[torch.from_numpy(rows)][:, None].repeat(1, 2, 1)
