"""The trained half of the latent policy: what it makes of latents, and the flow from noise to actions.

B batch, F flow samples for each observation, T actions in a chunk, A action size, E embedding.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class ObservationEncoder(nn.Module):
    """Latents of a few frames and the robot's states -> one vector.

    A strided convolution and two more over the latent map, with the map's coordinates as two further channels
    (CoordConv, arXiv 1807.03247); then both where things are (spatial softmax, arXiv 1504.00702) and what is
    there (the flattened map) enter the vector.

    Args:
        latent_shape: (C, h, w) of all frames' and cameras' latents stacked along C.
        state_size: length of the stacked states.
        width: channels of the convolutions.
        embedding: E.
        dropout: rate on the flattened features.
    """

    grid: Tensor

    def __init__(
        self, latent_shape: tuple[int, int, int], state_size: int, width: int, embedding: int, dropout: float
    ) -> None:
        super().__init__()
        channels, height, breadth = latent_shape
        self.register_buffer("grid", coordinates(height, breadth), persistent=False)
        self.convolutions = nn.Sequential(
            nn.Conv2d(channels + 2, width, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.SiLU(),
        )
        self.keypoints = SpatialSoftmax(width, width // 2)
        map_size = (height // 2) * (breadth // 2)
        self.squeeze = nn.Conv2d(width, 8, 1)
        self.join = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(2 * (width // 2) + 8 * map_size + state_size, embedding),
            nn.SiLU(),
            nn.Linear(embedding, embedding),
        )

    def forward(self, latents: Tensor, state: Tensor) -> Tensor:
        """(B, C, h, w) and (B, S) -> (B, E)."""
        grid = self.grid.expand(len(latents), -1, -1, -1)
        maps = self.convolutions(torch.cat([latents, grid], 1))
        return self.join(torch.cat([self.keypoints(maps), self.squeeze(maps).flatten(1), state], 1))


class SpatialSoftmax(nn.Module):
    """The expected coordinates of each of `num_keypoints` heat maps."""

    def __init__(self, channels: int, num_keypoints: int) -> None:
        super().__init__()
        self.heat = nn.Conv2d(channels, num_keypoints, 1)

    def forward(self, maps: Tensor) -> Tensor:
        """(B, C, h, w) -> (B, 2 * num_keypoints), coordinates in [-1, 1]."""
        attention = self.heat(maps).flatten(2).softmax(-1)
        grid = coordinates(*maps.shape[-2:]).to(maps).flatten(1)
        return (attention @ grid.T).flatten(1)


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


def coordinates(height: int, width: int) -> Tensor:
    """(2, height, width): row and column of each cell, in [-1, 1]."""
    return torch.stack(torch.meshgrid(torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij"))
