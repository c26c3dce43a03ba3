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
from .timeline import Timeline

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
        self._starts = _starts(data, episodes)

    @torch.inference_mode()
    def __call__(self) -> dict[str, float]:
        """PSNR in dB after each number of steps that an episode lasts, as `{"psnr_16": 24.1, "psnr_64": 21.9}`."""
        found = {}
        for horizon, rows in self._starts.items():
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


class VectorCheck:
    """State and labels after 16 and 64 steps on recorded actions; arguments as for `OpenLoopCheck`.

    Args:
        vectors: (R, D), scaled.
        actions: (R, A), scaled.
    """

    def __init__(
        self, model: WorldModel, data: Interaction, vectors: Tensor, actions: Tensor, episodes: np.ndarray
    ) -> None:
        self._model, self._vectors, self._actions = model, vectors, actions
        self._timeline, self._starts = Timeline(data.starts, episodes), _starts(data, episodes)

    @torch.inference_mode()
    def __call__(self) -> dict[str, float]:
        """Mean absolute errors, 1 being half of a number's range, as `{"error_16": 0.01, "error_64": 0.05}`."""
        found = {}
        for horizon, rows in self._starts.items():
            history = self._vectors[self._timeline.window(rows, 2)]
            for step in range(horizon):
                change, _ = self._model.vector_dynamics.agree(history, self._window(rows + step))
                history = torch.stack([history[:, 1], history[:, 1] + change], 1)
            error = history[:, 1] - self._vectors[torch.from_numpy(rows + horizon)]
            found[f"error_{horizon}"] = round(error.abs().mean().item(), 6)
        return found

    def _window(self, rows: np.ndarray) -> Tensor:
        return self._actions[self._timeline.window(rows, 2)]


def _starts(data: Interaction, episodes: np.ndarray) -> dict[int, np.ndarray]:
    """Horizon -> first rows of some of those episodes that are longer, where there are any."""
    starts, lengths = data.starts[:-1][episodes], np.diff(data.starts)[episodes]
    return {h: starts[lengths > h][:_NUM_EPISODES] for h in _HORIZONS if (lengths > h).any()}
