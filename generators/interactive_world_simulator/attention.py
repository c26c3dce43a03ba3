"""Attention over the places of a frame and over the frames of a window."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Rotary(nn.Module):
    """Rotary embedding of neighbouring pairs of channels (Su et al. 2021, arXiv 2104.09864), base 10,000."""

    freqs: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("freqs", 10000.0 ** (-torch.arange(0, width, 2) / width))

    def forward(self, x: Tensor) -> Tensor:
        """Turn (..., T, width) by angles that grow with the place in T."""
        angles = torch.arange(x.shape[-2], device=x.device)[:, None] * self.freqs
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        even, odd = x[..., 0::2], x[..., 1::2]
        return torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1).flatten(-2)


class SoftmaxAttention(nn.Module):
    """Attention of all tokens to all, or only to those before; (B, L, width) to the same."""

    def __init__(self, width: int, num_heads: int, head_width: int, rotary: Rotary | None = None) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.rotary_emb = rotary
        self.to_qkv = nn.Linear(width, 3 * num_heads * head_width, bias=False)
        self.to_out = nn.Linear(num_heads * head_width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        """Causal where there is a rotary embedding, that is, over time."""
        q, k, v = self.to_qkv(tokens).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        if self.rotary_emb is not None:
            q, k = self.rotary_emb(q), self.rotary_emb(k)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=self.rotary_emb is not None)
        return self.to_out(attended.transpose(1, 2).flatten(2))


class LinearAttention(nn.Module):
    """Attention in time linear in the number of tokens (Shen et al. 2018, arXiv 1812.01243)."""

    def __init__(self, width: int, num_heads: int, head_width: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.to_qkv = nn.Linear(width, 3 * num_heads * head_width, bias=False)
        self.to_out = nn.Linear(num_heads * head_width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        """(B, L, width) to the same."""
        q, k, v = self.to_qkv(tokens).unflatten(-1, (3, self.num_heads, -1)).permute(2, 0, 3, 1, 4)
        context = k.softmax(dim=-2).transpose(-1, -2) @ v
        attended = (q.softmax(dim=-1) * q.shape[-1] ** -0.5) @ context
        return self.to_out(attended.transpose(1, 2).flatten(2))


class AttentionBlock(nn.Module):
    """Adds to a window (B, C, T, H, W) what an attention finds in its normalised tokens.

    Args:
        width: C.
        attention: takes and gives (B, L, C).
        over: which axes one sequence runs over: H x W of one frame, or T at one place.
    """

    def __init__(self, width: int, attention: nn.Module, over: Literal["space", "time"]) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attn = attention
        self.over = over

    def forward(self, window: Tensor) -> Tensor:
        """(B, C, T, H, W) to the same."""
        order = (0, 2, 3, 4, 1) if self.over == "space" else (0, 3, 4, 2, 1)
        last = window.permute(order)
        tokens = last.flatten(2, 3).flatten(0, 1) if self.over == "space" else last.flatten(0, 2)
        tokens = tokens + self.attn(self.norm(tokens))
        back = (0, 4, 1, 2, 3) if self.over == "space" else (0, 4, 3, 1, 2)
        return tokens.reshape(last.shape).permute(back)
