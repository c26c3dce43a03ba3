"""How good the dynamics is while it trains: short open loops on held-out episodes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .dynamics import follow
from .evaluation import psnr
from .interaction import Interaction
from .model import WorldModel
from .sequences import Sequences

_HORIZONS = (16, 64)
_NUM_EPISODES = 8


class OpenLoopCheck:
    """Frames after 16 and 64 steps on recorded actions, and on recorded vectors, whose dynamics may train meanwhile.

    Args:
        model: its autoencoder is trained.
        data: what really happened.
        sequences: the same as latents.
        episodes: numbers of the held-out ones; the first 8 that are long enough are used.
    """

    def __init__(self, model: WorldModel, data: Interaction, sequences: Sequences, episodes: np.ndarray) -> None:
        self._model, self._data, self._sequences = model, data, sequences
        self._starts, self._lengths = data.starts[:-1][episodes], np.diff(data.starts)[episodes]

    @torch.inference_mode()
    def __call__(self) -> dict[str, float]:
        """PSNR in dB after each number of steps that an episode lasts, as `{"psnr_16": 24.1, "psnr_64": 21.9}`."""
        found = {}
        for horizon in _HORIZONS:
            rows = self._starts[self._lengths > horizon][:_NUM_EPISODES]
            if len(rows):
                shown = self._model.decode(self._roll(rows, horizon))
                found[f"psnr_{horizon}"] = round(psnr(shown, self._data.frames[rows + horizon]), 3)
        return found

    def _roll(self, rows: np.ndarray, num_steps: int) -> Tensor:
        """The latents (E, C, H, W) so many steps after `rows` (E,), each predicted from those predicted before."""
        sequences, history = self._sequences, self._sequences.history(rows)
        # Of its own, since a check must leave the training's random numbers alone.
        chance = torch.Generator().manual_seed(0)
        for step in range(num_steps):
            noise = torch.randn(self._model.noise_shape(len(rows)), generator=chance)
            vector, actions = sequences.following_vector(rows + step), sequences.action_history(rows + step)
            latent = self._model.draw(history, vector, actions, sequences.task(rows), noise)
            history = follow(history, latent, sequences.anchored)
        return history[:, -1]
