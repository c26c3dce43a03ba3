"""What the dynamics learns from: latents, vectors and actions of whole episodes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .crops import Crops
from .timeline import Timeline


class Sequences:
    """Rows of latents, vectors and scaled actions, episode after episode.

    Args:
        timeline: which rows belong together.
        latents: (R, C, H, W) float16; channels last in memory makes windows of them cheap.
        vectors: (R, D) float32, state and labels.
        actions: (R, A) float32, scaled.
        history: rows in a history.
        anchored: whether the latent of the episode's first row stands before a history.
        tasks: (R,) int64, number of the task; all the first if None.
    """

    def __init__(
        self, timeline: Timeline, latents: Tensor, vectors: Tensor, actions: Tensor, history: int,
        anchored: bool = False, tasks: Tensor | None = None,
    ) -> None:  # fmt: skip
        self.timeline, self.latents, self.vectors, self.actions = timeline, latents, vectors, actions
        self.anchored, self._length = anchored, history
        self._tasks = torch.zeros(len(vectors), dtype=torch.int64) if tasks is None else tasks
        self._rows = timeline.rows_with_next()
        self._weights = self._draw_weights()

    def _draw_weights(self) -> np.ndarray:
        """Rows in which much changes come up to five times as often, and first rows too: a reset is always one."""
        parts = np.array_split(self._rows, -(-len(self._rows) // 1024))
        change = torch.cat([self.change(part).mean((1, 2)) for part in parts]).numpy()
        weights = 0.25 + np.minimum(1.0, change / (np.quantile(change, 0.9) + 1e-6))
        weights = np.where(self.timeline.is_first(self._rows), 2.0, weights)
        return np.cumsum(weights / weights.sum())

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """(count,) rows that have a next row."""
        place = np.searchsorted(self._weights, rng.random(count), side="right")
        return self._rows[np.minimum(place, len(self._rows) - 1)]

    def history(self, rows: np.ndarray, crops: Crops | None = None) -> Tensor:
        """(B, num_latents, C, H, W) float32: the anchor, the latents up to and with each row, or windows of them."""
        window = self.timeline.window(rows, self._length)
        if self.anchored:
            window = torch.cat([torch.from_numpy(self.timeline.first(rows))[:, None], window], 1)
        if crops is None:
            return self.latents[window].float()
        return torch.stack([crops.of_latents(self.latents, moment) for moment in window.unbind(1)], 1)

    def action_history(self, rows: np.ndarray) -> Tensor:
        """(B, history, A): the actions up to and with each row's."""
        return self.actions[self.timeline.window(rows, self._length)]

    def vector_history(self, rows: np.ndarray) -> Tensor:
        """(B, history, D): the vectors up to and with each row's."""
        return self.vectors[self.timeline.window(rows, self._length)]

    def following(self, rows: np.ndarray, crops: Crops | None = None) -> Tensor:
        """(B, C, H, W) float32: the latent after each row, or a window of it."""
        after = torch.from_numpy(rows + 1)
        return self.latents[after].float() if crops is None else crops.of_latents(self.latents, after)

    def following_vector(self, rows: np.ndarray) -> Tensor:
        """(B, D): the vector after each row."""
        return self.vectors[torch.from_numpy(rows + 1)]

    def task(self, rows: np.ndarray) -> Tensor:
        """(B,) int64: the number of each row's task."""
        return self._tasks[torch.from_numpy(rows)]

    def change(self, rows: np.ndarray) -> Tensor:
        """(B, H, W) float32: how much each cell changes in the step after each row."""
        return (self.following(rows) - self.latents[torch.from_numpy(rows)].float()).abs().amax(1)
