"""Noise levels: the schedule, the embedding of a level, and the jump from one level to another."""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from torch import Tensor


def embed_level(level: Tensor, width: int) -> Tensor:
    """Cosines, then sines, of levels (...) at `width` / 2 frequencies from 1 down to 1 / 10,000: (..., width)."""
    half = width // 2
    frequencies = torch.exp(-math.log(10000.0) * torch.arange(half, device=level.device) / half)
    angles = level[..., None].float() * frequencies
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


def signal_shares(num_levels: int) -> Tensor:
    """How much variance of the signal is left at each level, (num_levels,) float32.

    The sigmoid schedule from -3 to 3 of Jabri et al. 2022 (arXiv 2212.11972, figure 8).
    """
    at = torch.linspace(-3.0, 3.0, num_levels + 1, dtype=torch.float64).sigmoid()
    left = (at[-1] - at) / (at[-1] - at[0])
    added = (1 - left[1:] / left[:-1]).clip(0, 0.999)
    return (1 - added.float()).cumprod(0)


def jump(noisy: Tensor, velocity: Tensor, start: int, stop: int, shares: Tensor) -> Tensor:
    """From level `start` to `stop` < `start`, given the velocity that the network saw.

    The velocity (Salimans & Ho 2022, arXiv 2202.00512) gives the clean signal; the result lies between what came in
    and that, as in consistency trajectory models (Kim et al. 2023, arXiv 2310.02279, equation 9).
    """
    clean = shares[start].sqrt() * noisy - (1 - shares[start]).sqrt() * velocity
    return noisy * (stop / start) + clean * (1 - stop / start)


def ladder(num_levels: int, num_steps: int) -> list[tuple[int, int]]:
    """The jumps from pure noise to none: `num_steps` pairs (start, stop), evenly spread."""
    levels = torch.linspace(num_levels - 1, 0, num_steps + 1).long().tolist()
    return list(pairwise(levels))
