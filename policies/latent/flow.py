"""The flow from noise to a chunk of actions.

T actions in a chunk, A action size, E embedding; leading axes are free.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class FlowHead(nn.Module):
    """The velocity that carries a noisy chunk of actions towards a clean one, given an observation.

    A residual MLP; each block is shifted and scaled by flow time and observation.
    """

    frequencies: Tensor

    def __init__(self, chunk: int, action_size: int, embedding: int, num_blocks: int, dropout: float) -> None:
        super().__init__()
        self.register_buffer("frequencies", torch.exp(torch.linspace(0.0, math.log(64.0), 16)), persistent=False)
        self.enter = nn.Linear(chunk * action_size, embedding)
        self.time = nn.Sequential(nn.Linear(32, embedding), nn.SiLU(), nn.Linear(embedding, embedding))
        self.blocks = nn.ModuleList(FlowBlock(embedding, dropout) for _ in range(num_blocks))
        self.leave = nn.Linear(embedding, chunk * action_size)

    def forward(self, noisy: Tensor, time: Tensor, observed: Tensor) -> Tensor:
        """(..., T, A) at flow time (...,) given (..., E) -> velocity (..., T, A)."""
        phase = time[..., None] * self.frequencies
        condition = observed + self.time(torch.cat([phase.sin(), phase.cos()], -1))
        hidden = self.enter(noisy.flatten(-2))
        for block in self.blocks:
            hidden = block(hidden, condition)
        return self.leave(hidden).unflatten(-1, noisy.shape[-2:])


class FlowBlock(nn.Module):
    """x + MLP(scale * norm(x) + shift), with scale and shift from the condition (FiLM, arXiv 1709.07871)."""

    def __init__(self, size: int, dropout: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(size, elementwise_affine=False)
        self.modulate = nn.Linear(size, 2 * size)
        self.mlp = nn.Sequential(nn.Linear(size, size), nn.SiLU(), nn.Dropout(dropout), nn.Linear(size, size))

    def forward(self, hidden: Tensor, condition: Tensor) -> Tensor:
        """(..., E) and (..., E) -> (..., E)."""
        scale, shift = self.modulate(nn.functional.silu(condition)).chunk(2, -1)
        return hidden + self.mlp(self.norm(hidden) * (1 + scale) + shift)
