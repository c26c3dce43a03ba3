"""Latents of whole episodes, and the pieces of them that the dynamics learns from."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor


class Sequences:
    """Rows of latents and scaled actions, episode after episode.

    Before an episode's first row stand copies of it: a history at rest, as a world has it after a reset.

    Args:
        latents: (R, C, H, W) float16 of all rows.
        actions: (R, A) float32, scaled.
        starts: (E + 1,) where each episode starts.
        episodes: numbers of the episodes that may be drawn from.
        history: latents in a history.
    """

    def __init__(
        self, latents: Tensor, actions: Tensor, starts: np.ndarray, episodes: np.ndarray, history: int
    ) -> None:
        self.latents, self.actions = latents, actions
        lengths = np.diff(starts)
        self._first = np.repeat(starts[:-1], lengths)
        self._back = np.arange(1 - history, 1)
        self.has_next = np.ones(len(latents), bool)
        self.has_next[starts[1:] - 1] = False
        usable = self.has_next & np.isin(np.repeat(np.arange(len(lengths)), lengths), episodes)
        self._usable = np.flatnonzero(usable)
        self._weights = self._draw_weights()

    def _draw_weights(self) -> np.ndarray:
        """Rows in which much changes come up to five times as often, and first rows too: a reset is always one."""
        rows = torch.from_numpy(self._usable)
        change = torch.cat([
            (self.latents[part + 1].float() - self.latents[part].float()).abs().mean((1, 2, 3))
            for part in rows.split(1024)
        ]).numpy()  # fmt: skip
        weights = 0.25 + np.minimum(1.0, change / (np.quantile(change, 0.9) + 1e-6))
        weights = np.where(self._first[self._usable] == self._usable, 2.0, weights)
        return np.cumsum(weights / weights.sum())

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """(count,) rows that have a next row."""
        place = np.searchsorted(self._weights, rng.random(count), side="right")
        return self._usable[np.minimum(place, len(self._usable) - 1)]

    def _window(self, rows: np.ndarray) -> Tensor:
        return torch.from_numpy(np.maximum(rows[:, None] + self._back, self._first[rows][:, None]))

    def history(self, rows: np.ndarray) -> Tensor:
        """(B, history, C, H, W) float32: the latents up to and with each row."""
        return self.latents[self._window(rows)].float()

    def action_history(self, rows: np.ndarray) -> Tensor:
        """(B, history, A): the actions up to and with each row's."""
        return self.actions[self._window(rows)]

    def following(self, rows: np.ndarray) -> Tensor:
        """(B, C, H, W) float32: the latent after each row."""
        return self.latents[torch.from_numpy(rows + 1)].float()
