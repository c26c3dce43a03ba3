"""Real frames that an episode of a learned world can start from."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .interaction import Interaction

#: A frame is at rest if no latent channel has changed by more than this since the frame before.
_AT_REST = 0.02


def choose_starts(data: Interaction, latents: Tensor, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Frames (K, H, W, 3V) uint8 and states (K, S), at most `count`: first frames of episodes, then frames at rest.

    A world starts with no velocity, and so must what it starts from. Successes are no starts.
    """
    first = data.starts[:-1]
    resting = np.setdiff1d(_rows_at_rest(latents), first)
    rows = first[_spread(len(first), count)]
    rows = np.concatenate([rows, resting[_spread(len(resting), count - len(rows))]])
    rows = rows[~data.success[rows]]
    return data.frames[rows], data.state[rows]


def _rows_at_rest(latents: Tensor) -> np.ndarray:
    parts = [
        (latents[at + 1 : at + 1025].float() - latents[at : at + 1024][: len(latents) - at - 1].float())
        .abs()
        .amax((1, 2, 3))
        for at in range(0, len(latents) - 1, 1024)
    ]
    return 1 + np.flatnonzero(torch.cat(parts).numpy() < _AT_REST)


def _spread(available: int, wanted: int) -> np.ndarray:
    """At most `wanted` of the numbers below `available`, evenly spread."""
    return np.unique(np.linspace(0, available - 1, min(available, max(0, wanted))).round().astype(int))
