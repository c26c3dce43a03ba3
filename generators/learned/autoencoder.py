"""Frames to bounded 2-D latents and back."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .consistency import NoisyChange
from .layers import Halve, ResBlock

#: Channels at half of the resolution.
HALF_WIDTH = 32


def _widths(downscale: int) -> list[int]:
    """Channels at a half of the resolution, a quarter, and so on, down to that above the latents."""
    return [HALF_WIDTH * 2**level for level in range(downscale.bit_length() - 2)]


class Encoder(nn.Module):
    """(B, 3V, H, W) difference from the background -> (B, C, H/downscale, W/downscale) in [-1, 1]."""

    def __init__(self, num_cameras: int, latent_channels: int, width: int, downscale: int = 4) -> None:
        super().__init__()
        widths = _widths(downscale)
        between = [
            layer
            for above, below in itertools.pairwise(widths)
            for layer in (nn.PixelUnshuffle(2), nn.Conv2d(4 * above, below, 3, padding=1), nn.SiLU())
        ]
        self.net = nn.Sequential(
            nn.PixelUnshuffle(2),
            nn.Conv2d(12 * num_cameras, widths[0], 3, padding=1),
            nn.SiLU(),
            *between,
            nn.Identity(),
            Halve(widths[-1], width),
            ResBlock(width),
            ResBlock(width),
            nn.SiLU(),
            nn.Conv2d(width, latent_channels, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Encode."""
        return torch.tanh(self.net(x).float())


class Decoder(nn.Module):
    """(B, C, H/downscale, W/downscale) -> (B, 3V, H, W) difference from the background."""

    def __init__(self, num_cameras: int, latent_channels: int, width: int, downscale: int = 4) -> None:
        super().__init__()
        widths = _widths(downscale)[::-1]
        between = [
            layer
            for below, above in itertools.pairwise(widths)
            for layer in (nn.Conv2d(below, 4 * above, 3, padding=1), nn.PixelShuffle(2), nn.SiLU())
        ]
        self.net = nn.Sequential(
            nn.Conv2d(latent_channels, width, 3, padding=1),
            ResBlock(width),
            ResBlock(width),
            nn.SiLU(),
            nn.Conv2d(width, 4 * widths[0], 1),
            nn.PixelShuffle(2),
            nn.SiLU(),
            *between,
            nn.Conv2d(HALF_WIDTH, HALF_WIDTH, 3, padding=1),
            nn.SiLU(),
            nn.Conv2d(HALF_WIDTH, 12 * num_cameras, 3, padding=1),
            nn.PixelShuffle(2),
        )

    def forward(self, z: Tensor, noisy: NoisyChange | None = None) -> Tensor:
        """Decode; `noisy` is None but for a consistency decoder, which sees the difference under noise too."""
        assert noisy is None
        difference: Tensor = self.net(z).float()
        return difference


class Autoencoder(nn.Module):
    """Encoder and decoder around a fixed background, the median frame of the interaction data.

    With a camera that does not move, the networks then spend nothing on what never changes.
    """

    background: Tensor

    def __init__(
        self, num_cameras: int, height: int, width: int, latent_channels: int, channels: int, downscale: int = 4,
        decoder: type[Decoder] = Decoder,
    ) -> None:  # fmt: skip
        super().__init__()
        self.encoder = Encoder(num_cameras, latent_channels, channels, downscale)
        self.decoder = decoder(num_cameras, latent_channels, channels, downscale)
        self.register_buffer("background", torch.zeros(3 * num_cameras, height, width))

    def encode(self, frames: Tensor) -> Tensor:
        """(B, 3V, H, W) float in [0, 1] -> latents (B, C, H/downscale, W/downscale) float32 in [-1, 1]."""
        return self.encoder(frames - self.background)

    def decode(self, latents: Tensor, noisy: NoisyChange | None = None) -> Tensor:
        """Latents -> (B, 3V, H, W) float32; outside [0, 1] where the network overshoots."""
        return self.decoder(latents, noisy) + self.background


def reconstruction_loss(decoded: Tensor, aim: Tensor, difference: Tensor) -> Tensor:
    """L1 + L2, nine times as heavy where the frame differs from the background, plus L1 of the image gradient.

    Args:
        decoded: (B, 3V, H, W) what the decoder made.
        aim: what it should have made.
        difference: the frame's true difference from the background.
    """
    error = decoded - aim
    foreground = (difference.abs().amax(1, keepdim=True) > 0.1).float()
    foreground = F.max_pool2d(foreground, 3, stride=1, padding=1)
    weighted = ((1 + 8 * foreground) * (error.abs() + error.square())).mean()
    edges = error.diff(dim=-1).abs().mean() + error.diff(dim=-2).abs().mean()
    return weighted + 0.5 * edges
