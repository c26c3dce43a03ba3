"""The network that predicts the next latent from a window of latents and actions."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from .attention import AttentionBlock, LinearAttention, Rotary, SoftmaxAttention
from .config import DynamicsConfig
from .levels import embed_level


class Dynamics(nn.Module):
    """A U-Net on whole windows that never makes frames smaller; only attention looks across time.

    Convolutions see one frame at a time, normalisations all frames of the window together. The names of the parts are
    those of the release.

    Args:
        config: widths.
        channels: of a latent.
        action_size: numbers in an action.
    """

    def __init__(self, config: DynamicsConfig, channels: int, action_size: int) -> None:
        super().__init__()
        width, kernel = config.width, config.stem_kernel
        widths = [width, *(width * multiplier for multiplier in config.multipliers)]
        self.noise_level_pos_embedding = nn.Sequential(Sinusoids(width), TwoLayers(width, 4 * width))
        self.action_emd = _action_layers(action_size, config.action_width)
        self.rotary_time_pos_embedding = Rotary(config.head_width)
        self.init_conv = nn.Conv3d(channels, width, (1, kernel, kernel), padding=(0, kernel // 2, kernel // 2))
        self.init_temporal_attn = self._over_time(width, config)
        self.down_blocks, self.up_blocks = nn.ModuleList(), nn.ModuleList()
        last = len(config.multipliers) - 1
        for level, (before, after) in enumerate(pairwise(widths)):
            # The release has a list here, with an empty slot for making frames smaller.
            self.down_blocks.append(Stage([self._stage(before, after, config, linear=level < last)]))
        self.mid_block = self._middle(widths[-1], config)
        for level, (before, after) in reversed(list(enumerate(pairwise(widths)))):
            self.up_blocks.append(self._stage(2 * after, before, config, linear=level < last))
        self.out = nn.Sequential(ResidualBlock(2 * width, width, config.num_groups), nn.Conv3d(width, channels, 1))

    def forward(self, window: Tensor, start: Tensor, stop: Tensor, actions: Tensor) -> Tensor:
        """The velocity of each latent of a window.

        Args:
            window: (B, C, T, H, W) latents, each at its own noise level.
            start, stop: (B, T) levels: at which they are, and to which they are to be brought.
            actions: (B, T, A) scaled, the one that led to each latent.
        """
        levels = torch.cat([self.noise_level_pos_embedding(start), self.noise_level_pos_embedding(stop)], dim=-1)
        actions = self.action_emd(actions)
        stem = self.init_temporal_attn(self.init_conv(window))
        hidden, kept = stem, []
        for block in self.down_blocks:
            hidden = block(hidden, levels, actions)
            kept.append(hidden)
        hidden = self.mid_block(hidden, levels, actions)
        for block in self.up_blocks:
            hidden = block(torch.cat([hidden, kept.pop()], dim=1), levels, actions)
        return self.out(torch.cat([hidden, stem], dim=1))

    def _stage(self, before: int, after: int, config: DynamicsConfig, *, linear: bool) -> Stage:
        attention = LinearAttention if linear else SoftmaxAttention
        return Stage(
            [
                _conditioned(before, after, config),
                _conditioned(after, after, config),
                AttentionBlock(after, attention(after, config.num_heads, config.head_width), "space"),
                self._over_time(after, config),
            ]
        )

    def _middle(self, width: int, config: DynamicsConfig) -> Stage:
        return Stage(
            [
                _conditioned(width, width, config),
                AttentionBlock(width, SoftmaxAttention(width, config.num_heads, config.head_width), "space"),
                self._over_time(width, config),
                _conditioned(width, width, config),
            ]
        )

    def _over_time(self, width: int, config: DynamicsConfig) -> AttentionBlock:
        rotary = self.rotary_time_pos_embedding
        return AttentionBlock(width, SoftmaxAttention(width, config.num_heads, config.head_width, rotary), "time")


class Stage(nn.ModuleList):
    """Layers in a row, of which the residual blocks also see the noise levels and the actions."""

    def forward(self, window: Tensor, levels: Tensor, actions: Tensor) -> Tensor:
        """(B, C, T, H, W) and two conditions (B, T, D) to (B, C', T, H, W)."""
        for layer in self:
            conditions = (levels, actions) if isinstance(layer, Stage | ResidualBlock) else ()
            window = layer(window, *conditions)
        return window


class ResidualBlock(nn.Module):
    """Two normalised convolutions; the second is scaled and shifted by the noise levels, then by the action.

    Args:
        before, after: channels in and out.
        num_groups: of both normalisations.
        level_width, action_width: sizes of what scales and shifts; 0 where nothing does.
    """

    def __init__(self, before: int, after: int, num_groups: int, level_width: int = 0, action_width: int = 0) -> None:
        super().__init__()
        self.in_layers = _normalised_convolution(before, after, num_groups)
        self.out_layers = _normalised_convolution(after, after, num_groups)
        self.emb_layers = _film(level_width, after)
        self.cond_emb_layers = _film(action_width, after)
        self.skip_conv = nn.Identity() if before == after else nn.Conv3d(before, after, 1)

    def forward(self, window: Tensor, *conditions: Tensor) -> Tensor:
        """(B, C, T, H, W), and two conditions (B, T, D) or none."""
        norm, activation, convolution = self.out_layers
        hidden = norm(self.in_layers(window))
        for film, condition in zip((self.emb_layers, self.cond_emb_layers), conditions, strict=False):
            scale, shift = film(condition).transpose(1, 2)[..., None, None].chunk(2, dim=1)
            hidden = hidden * (1 + scale) + shift
        return self.skip_conv(window) + convolution(activation(hidden))


class Sinusoids(nn.Module):
    """Noise levels (...) as (..., width)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, level: Tensor) -> Tensor:
        """See `embed_level`."""
        return embed_level(level, self.width)


class TwoLayers(nn.Module):
    """A linear layer, SiLU and another."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.linear_1 = nn.Linear(before, after)
        self.linear_2 = nn.Linear(after, after)

    def forward(self, x: Tensor) -> Tensor:
        """(..., before) to (..., after)."""
        return self.linear_2(nn.functional.silu(self.linear_1(x.to(self.linear_1.weight.dtype))))


def _conditioned(before: int, after: int, config: DynamicsConfig) -> ResidualBlock:
    return ResidualBlock(before, after, config.num_groups, 8 * config.width, config.action_width)


def _normalised_convolution(before: int, after: int, num_groups: int) -> nn.Sequential:
    convolution = nn.Conv3d(before, after, (1, 3, 3), padding=(0, 1, 1))
    return nn.Sequential(nn.GroupNorm(num_groups, before, eps=1e-6), nn.SiLU(), convolution)


def _film(width: int, channels: int) -> nn.Module:
    return nn.Sequential(nn.SiLU(), nn.Linear(width, 2 * channels)) if width else nn.Identity()


def _action_layers(action_size: int, width: int) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Linear(action_size, 64)]
    for before, after in pairwise((64, 128, 128, width)):
        layers += [nn.ReLU(), nn.Linear(before, after)]
    return nn.Sequential(*layers)
