"""Layers shared by all networks of a learned world."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class ResBlock(nn.Module):
    """x + conv(silu(film(conv(silu(x))))), with the last convolution at zero so that it starts as the identity."""

    def __init__(self, width: int, condition: int = 0) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.film = nn.Linear(condition, 2 * width) if condition else None
        nn.init.zeros_(self.second.weight)
        if self.film is not None:
            nn.init.zeros_(self.film.weight)
            nn.init.zeros_(self.film.bias)

    def forward(self, x: Tensor, condition: Tensor | None = None) -> Tensor:
        """(B, width, H, W) -> the same; `condition` (B, condition) scales and shifts the channels."""
        inner = self.first(F.silu(x))
        if self.film is not None:
            scale, shift = self.film(condition)[:, :, None, None].chunk(2, dim=1)
            inner = inner * (1 + scale) + shift
        return x + self.second(F.silu(inner))


def coordinates(height: int, width: int) -> Tensor:
    """(2, height, width): x and y of each cell's centre, in [-1, 1] from edge to edge."""
    ys = (torch.arange(height) + 0.5) / height * 2 - 1
    xs = (torch.arange(width) + 0.5) / width * 2 - 1
    return torch.stack([xs.expand(height, width), ys[:, None].expand(height, width)])
