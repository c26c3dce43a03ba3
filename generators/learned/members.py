"""Layers of several networks of one shape, which learn side by side and may disagree."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class MemberLinear(nn.Module):
    """One linear layer for each member: (M, B, inputs) -> (M, B, outputs)."""

    def __init__(self, num_members: int, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = inputs**-0.5
        self.weight = nn.Parameter(torch.empty(num_members, inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(num_members, 1, outputs).uniform_(-bound, bound))

    def forward(self, x: Tensor) -> Tensor:
        """Multiply and add."""
        return torch.baddbmm(self.bias, x, self.weight)


class MemberNorm(nn.Module):
    """One layer norm for each member: (M, B, width) -> the same."""

    def __init__(self, num_members: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(num_members, 1, width))
        self.bias = nn.Parameter(torch.zeros(num_members, 1, width))

    def forward(self, x: Tensor) -> Tensor:
        """Norm each row, then scale and shift."""
        return F.layer_norm(x, x.shape[-1:]) * self.weight + self.bias
