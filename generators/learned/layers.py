"""Layers shared by all networks of a learned world."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


def by_row(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """`function(x)` for x (B, ...), one row at a time unless gradients are asked for.

    A product of matrices rounds a row differently when other rows stand beside it, and an episode must not depend
    on its neighbours in the last bit either. Convolutions treat each image alone as they are.
    """
    if torch.is_grad_enabled():
        return function(x)
    return torch.cat([function(row) for row in x.split(1)])


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
        if self.film is not None and condition is not None:
            scale, shift = by_row(self.film, condition)[:, :, None, None].chunk(2, dim=1)
            inner = inner * (1 + scale) + shift
        return x + self.second(F.silu(inner))


def coordinates(height: int, width: int) -> Tensor:
    """(2, height, width): x and y of each cell's centre, in [-1, 1] from edge to edge."""
    ys = (torch.arange(height) + 0.5) / height * 2 - 1
    xs = (torch.arange(width) + 0.5) / width * 2 - 1
    return torch.stack([xs.expand(height, width), ys[:, None].expand(height, width)])
