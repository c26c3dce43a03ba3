"""The action read back from what it led to: whether a world follows its actions as real video does.

A world that draws sharp frames may still do something else than it was told. Reading the action from two successive
latents, in reality and in a world alike, tells: the world's error divided by that on real video is about 1 where the
world does as told, and several where it does not (compare action-following in DreamGen, Jang et al., arXiv 2505.12705).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .config import WorldConfig
from .optimisation import autocast
from .reader import Reader

_NUM_BLOCKS = 3


class InverseDynamics(nn.Module):
    """Reads the scaled action that led from one latent to the next.

    Args:
        config: of the world.
        height, width: of its latents.
        action_size: numbers in an action.
    """

    def __init__(self, config: WorldConfig, height: int, width: int, action_size: int) -> None:
        super().__init__()
        inputs = 2 * config.latent_channels
        self.reader = Reader(inputs, height, width, action_size, config.reader_width, _NUM_BLOCKS)

    def forward(self, before: Tensor, after: Tensor) -> Tensor:
        """Latents (B, C, H, W) before and after a step -> the action (B, A) commanded between them, scaled."""
        with autocast():
            read: Tensor = self.reader(torch.cat([after, after - before], 1))
        return read
