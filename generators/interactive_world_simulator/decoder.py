"""The networks that draw a frame from a latent: a U-Net on the noisy frame, steered by another on the latent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .config import DecoderConfig
from .levels import embed_level

#: Of all normalisations, and channels of the layers that turn a latent into a hint.
_NUM_GROUPS = 16
_HINT_WIDTHS = (16, 16, 32, 32, 96, 96, 256)


class Decoder(nn.Module):
    """Both networks, under the release's names.

    Args:
        config: widths.
        frame_channels, latent_channels: of all views together.
        num_upsamples: how often the latent is doubled to the frame's size.
    """

    def __init__(self, config: DecoderConfig, frame_channels: int, latent_channels: int, num_upsamples: int) -> None:
        super().__init__()
        self.model = UNet(config, frame_channels)
        self.control_net = ControlNet(config, frame_channels, latent_channels, num_upsamples)

    def forward(self, frames: Tensor, start: Tensor, stop: Tensor, latents: Tensor) -> Tensor:
        """The velocity of noisy frames (B, 3V, H, W) at level `start` (B,), on their way to `stop`."""
        return self.model(frames, start, stop, self.control_net(frames, start, stop, latents))


class Contraction(nn.Module):
    """What both networks begin with: levels of residual blocks, each half as large as the one before."""

    def __init__(self, config: DecoderConfig, frame_channels: int, idle_width: int) -> None:
        super().__init__()
        self.width, time = config.width, config.time_width
        self.time_embed = nn.Sequential(nn.Linear(config.width, time), nn.SiLU(), nn.Linear(time, time))
        self.input_blocks = nn.ModuleList([Stage([_convolution(frame_channels, config.width)])])
        #: Channels of what each input block gives.
        self.widths = [config.width]
        for level, multiplier in enumerate(config.multipliers):
            after = config.width * multiplier
            for _ in range(config.num_blocks):
                self._add([_residual(config, self.widths[-1], after, idle_width), *_attention(config, after, level)])
                self.widths.append(after)
            if level < len(config.multipliers) - 1:
                self._add([_residual(config, after, after, idle_width, "smaller")])
                self.widths.append(after)
        self.middle_block = Stage(
            [
                _residual(config, after, after, idle_width),
                SpaceAttention(after, after // config.head_width),
                _residual(config, after, after, idle_width),
            ]
        )

    def levels(self, start: Tensor, stop: Tensor) -> Tensor:
        """Both noise levels (B,) as (B, 2 * time_width)."""
        both = embed_level(torch.stack([start, stop], dim=1), self.width)
        return self.time_embed(both.to(next(self.parameters()).dtype)).flatten(1)

    def _add(self, block: list[nn.Module]) -> None:
        self.input_blocks.append(Stage(block))


class UNet(Contraction):
    """Draws the frame; what the other network says is added where the two halves meet."""

    def __init__(self, config: DecoderConfig, frame_channels: int) -> None:
        # The release holds layers for a condition that it never gives; without them its weights would not fit.
        idle_width = config.time_width
        super().__init__(config, frame_channels, idle_width)
        self.output_blocks = nn.ModuleList()
        kept, before = list(self.widths), self.widths[-1]
        for level, multiplier in reversed(list(enumerate(config.multipliers))):
            after = config.width * multiplier
            for block in range(config.num_blocks + 1):
                parts = [_residual(config, before + kept.pop(), after, idle_width), *_attention(config, after, level)]
                if level and block == config.num_blocks:
                    parts.append(_residual(config, after, after, idle_width, "larger"))
                self.output_blocks.append(Stage(parts))
                before = after
        last = _convolution(config.width * config.multipliers[0], frame_channels)
        self.out = nn.Sequential(nn.GroupNorm(_NUM_GROUPS, before), nn.SiLU(), last)

    def forward(self, frames: Tensor, start: Tensor, stop: Tensor, controls: Sequence[Tensor]) -> Tensor:
        """(B, 3V, H, W) to the same; `controls` has one tensor for each input block and one for the middle."""
        levels = self.levels(start, stop)
        *sides, middle = controls
        hidden, kept = frames, []
        for block, side in zip(self.input_blocks, sides, strict=True):
            hidden = block(hidden, levels)
            kept.append(hidden + side)
        hidden = self.middle_block(hidden, levels) + middle
        for block in self.output_blocks:
            hidden = block(torch.cat([hidden, kept.pop()], dim=1), levels)
        return self.out(hidden)


class ControlNet(Contraction):
    """Reads the latent beside the noisy frame (Zhang et al. 2023, arXiv 2302.05543)."""

    def __init__(self, config: DecoderConfig, frame_channels: int, latent_channels: int, num_upsamples: int) -> None:
        super().__init__(config, frame_channels, idle_width=0)
        self.upsample_conds = nn.ModuleList(Doubling(latent_channels) for _ in range(num_upsamples))
        hint: list[nn.Module] = [_convolution(latent_channels, _HINT_WIDTHS[0])]
        for before, after in pairwise((*_HINT_WIDTHS, config.width)):
            hint += [nn.SiLU(), _convolution(before, after)]
        self.input_blocks_cond = nn.Sequential(*hint)
        self.zero_convs = nn.ModuleList(_pointwise(width) for width in self.widths)
        self.middle_block_out = _pointwise(self.widths[-1])

    def forward(self, frames: Tensor, start: Tensor, stop: Tensor, latents: Tensor) -> list[Tensor]:
        """What is to be added in the U-Net: one tensor for each input block and one for the middle."""
        levels = self.levels(start, stop)
        for upsample in self.upsample_conds:
            latents = upsample(latents)
        hint = self.input_blocks_cond(latents)
        hidden, controls = frames, []
        for index, (block, out) in enumerate(zip(self.input_blocks, self.zero_convs, strict=True)):
            hidden = block(hidden, levels)
            if index == 0:
                hidden = hidden + hint
            controls.append(out(hidden))
        controls.append(self.middle_block_out(self.middle_block(hidden, levels)))
        return controls


class Stage(nn.ModuleList):
    """Layers in a row, of which the residual blocks also see the noise levels."""

    def forward(self, hidden: Tensor, levels: Tensor) -> Tensor:
        """(B, C, H, W) and (B, D) to (B, C', H', W')."""
        for layer in self:
            hidden = layer(hidden, levels) if isinstance(layer, ResBlock) else layer(hidden)
        return hidden


class ResBlock(nn.Module):
    """Two normalised convolutions, the second scaled and shifted by the noise levels.

    Args:
        before, after: channels in and out.
        level_width: size of the embedded levels.
        idle_width: size of a condition that is never given but has weights; 0 for none.
        resize: halve or double the side on the way.
    """

    def __init__(
        self, before: int, after: int, level_width: int, idle_width: int, resize: Literal["smaller", "larger", ""]
    ) -> None:
        super().__init__()
        self.resize = resize
        # Empty slots, here and below, keep the numbers by which the release names its layers.
        self.in_layers = nn.Sequential(nn.GroupNorm(_NUM_GROUPS, before), nn.SiLU(), _convolution(before, after))
        self.emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(level_width, 2 * after))
        if idle_width:
            self.cond_emb_layers = nn.Sequential(nn.SiLU(), nn.Linear(idle_width, 2 * after))
        normed = nn.GroupNorm(_NUM_GROUPS, after)
        self.out_layers = nn.Sequential(normed, nn.SiLU(), nn.Identity(), _convolution(after, after))
        self.skip_connection = nn.Identity() if before == after else nn.Conv2d(before, after, 1)

    def forward(self, x: Tensor, levels: Tensor) -> Tensor:
        """(B, before, H, W) and (B, level_width) to (B, after, ...)."""
        norm, activation, convolution = self.in_layers
        hidden = convolution(self._resized(activation(norm(x))))
        scale, shift = self.emb_layers(levels)[..., None, None].chunk(2, dim=1)
        norm, *rest = self.out_layers
        hidden = norm(hidden) * (1 + scale) + shift
        for layer in rest:
            hidden = layer(hidden)
        return self.skip_connection(self._resized(x)) + hidden

    def _resized(self, x: Tensor) -> Tensor:
        if self.resize == "smaller":
            return F.avg_pool2d(x, 2)
        return F.interpolate(x, scale_factor=2.0, mode="nearest") if self.resize == "larger" else x


class SpaceAttention(nn.Module):
    """Adds what all places of a frame find in each other; (B, C, H, W) to the same."""

    def __init__(self, width: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.norm = nn.GroupNorm(_NUM_GROUPS, width)
        self.qkv = nn.Conv1d(width, 3 * width, 1)
        self.proj_out = nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Heads lie side by side in the channels, each with its queries, keys and values."""
        heads = self.qkv(self.norm(x).flatten(2)).unflatten(1, (self.num_heads, 3, -1)).transpose(-1, -2)
        attended = F.scaled_dot_product_attention(*heads.contiguous().unbind(2))
        return x + self.proj_out(attended.transpose(-1, -2).flatten(1, 2)).view_as(x)


class Doubling(nn.Module):
    """Twice the side, by repetition and a convolution."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = _convolution(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) to (B, C, 2H, 2W)."""
        return self.conv(F.interpolate(x, scale_factor=2.0, mode="nearest"))


def _residual(
    config: DecoderConfig, before: int, after: int, idle: int, resize: Literal["smaller", "larger", ""] = ""
) -> ResBlock:
    return ResBlock(before, after, 2 * config.time_width, idle, resize)


def _attention(config: DecoderConfig, width: int, level: int) -> list[nn.Module]:
    return [SpaceAttention(width, width // config.head_width)] if 2**level in config.attention_strides else []


def _convolution(before: int, after: int) -> nn.Conv2d:
    return nn.Conv2d(before, after, 3, padding=1)


def _pointwise(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(width, width, 1))
