"""Layers shared by all networks of a learned world."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

#: Of rows of so many numbers each begins where a cache line does: MKL rounds one that begins elsewhere in it otherwise.
_ALIGNED = 16


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """A linear layer on x (B, inputs) or (B, n, inputs) that treats each of the B alone unless it is being trained.

    A product of matrices rounds a row differently when other rows stand beside it, and an episode must not depend
    on its neighbours in the last bit either. As a batch of products, one for each of the B, it does not, if all of
    them lie in memory alike. Convolutions treat each image alone as they are.
    """
    if torch.is_grad_enabled():
        return F.linear(x, weight, bias)
    if x.ndim == 2:
        return linear(x[:, None], weight, bias)[:, 0]
    if odd := -x.shape[-1] % _ALIGNED:
        x, weight = F.pad(x, (0, odd)), F.pad(weight, (0, odd))
    return torch.baddbmm(bias, x, weight.t().expand(len(x), -1, -1))


class Linear(nn.Linear):
    """A linear layer that, once it is trained, treats each row of a batch alone to the last bit."""

    def forward(self, x: Tensor) -> Tensor:
        """(B, inputs) or (B, n, inputs) -> the same with outputs."""
        return linear(x, self.weight, self.bias)


class PerCell(nn.Conv2d):
    """A 1 x 1 convolution of cells in a row, one after the other: on few cells a plain product is faster."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        """(B, n, inputs) -> (B, n, outputs)."""
        assert self.bias is not None
        return linear(x, self.weight.flatten(1), self.bias)


class Halve(nn.Conv2d):
    """(B, C, H, W) -> (B, outputs, H/2, W/2): `PixelUnshuffle(2)` and a 1 x 1 convolution, as one of 2 x 2.

    It saves a copy of what it halves, which for wide channels costs more than the convolution.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(4 * inputs, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Halve height and width."""
        return F.conv2d(x, self.weight.view(self.out_channels, -1, 2, 2), self.bias, stride=2)


class ResBlock(nn.Module):
    """x + conv(silu(film(conv(silu(x))))), with the last convolution at zero so that it starts as the identity."""

    def __init__(self, width: int, condition: int = 0) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.second = nn.Conv2d(width, width, 3, padding=1)
        self.film = Linear(condition, 2 * width) if condition else None
        nn.init.zeros_(self.second.weight)
        if self.film is not None:
            nn.init.zeros_(self.film.weight)
            nn.init.zeros_(self.film.bias)

    def forward(self, x: Tensor, film: Tensor | None = None) -> Tensor:
        """(B, width, H, W) -> the same; what `film` made of a condition (B, 2 width) scales and shifts the channels."""
        inner = self.first(F.silu(x))
        if film is not None:
            scale, shift = film.to(inner.dtype)[:, :, None, None].chunk(2, dim=1)
            inner = torch.addcmul(shift, inner, 1 + scale)
        return x + self.second(F.silu(inner))


def coordinates(height: int, width: int) -> Tensor:
    """(2, height, width): x and y of each cell's centre, in [-1, 1] from edge to edge."""
    ys = (torch.arange(height) + 0.5) / height * 2 - 1
    xs = (torch.arange(width) + 0.5) / width * 2 - 1
    return torch.stack([xs.expand(height, width), ys[:, None].expand(height, width)])
