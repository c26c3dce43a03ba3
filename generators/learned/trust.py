"""How far a latent may be believed."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from .autoencoder import Autoencoder
from .optimisation import autocast

#: A latent is judged by its worst cells: one melted corner of a block is a few cells of a whole image.
_NUM_WORST_CELLS = 8


def cycle_error(autoencoder: Autoencoder, latents: Tensor, decoded: Tensor) -> Tensor:
    """(B,) how far each latent is from what the encoder makes of the frame decoded from it.

    Latents of real frames are near fixed points of encoder after decoder; melted shapes and ghosts are not.

    Args:
        latents: (B, C, H, W).
        decoded: (B, 3V, H, W), the frames decoded from them.
    """
    with autocast():
        again = autoencoder.encode(decoded.clamp(0, 1))
    cells = (again - latents).square().mean(1).flatten(1)
    worst: Tensor = cells.topk(min(_NUM_WORST_CELLS, cells.shape[1]), dim=1).values.mean(1).sqrt()
    return worst


def trust_of(error: Tensor, usual: Tensor, limit: Tensor) -> Tensor:
    """1 up to the `limit` that errors of held-out predictions rarely pass, then falling off.

    It has halved once the error is past the limit by 0.7 times the distance from `usual` (their median) to it.
    """
    return torch.exp(-((error - limit) / (limit - usual).clamp_min(1e-6)).clamp_min(0))


def trust_bounds(errors: np.ndarray) -> tuple[float, float]:
    """Median and 99th percentile of the errors of held-out one-step predictions."""
    return float(np.quantile(errors, 0.5)), float(np.quantile(errors, 0.99))
