"""Frames to bounded 2-D latents and back."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .layers import ResBlock

_HALF_WIDTH = 32


class Encoder(nn.Module):
    """(B, 3V, H, W) difference from the background -> (B, C, H/4, W/4) in [-1, 1]."""

    def __init__(self, num_cameras: int, latent_channels: int, width: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.PixelUnshuffle(2),
            nn.Conv2d(12 * num_cameras, _HALF_WIDTH, 3, padding=1),
            nn.SiLU(),
            nn.PixelUnshuffle(2),
            nn.Conv2d(4 * _HALF_WIDTH, width, 1),
            ResBlock(width),
            ResBlock(width),
            nn.SiLU(),
            nn.Conv2d(width, latent_channels, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """Encode."""
        return torch.tanh(self.net(x).float())


class Decoder(nn.Module):
    """(B, C, H/4, W/4) -> (B, 3V, H, W) difference from the background."""

    def __init__(self, num_cameras: int, latent_channels: int, width: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(latent_channels, width, 3, padding=1),
            ResBlock(width),
            ResBlock(width),
            nn.SiLU(),
            nn.Conv2d(width, 4 * _HALF_WIDTH, 1),
            nn.PixelShuffle(2),
            nn.SiLU(),
            nn.Conv2d(_HALF_WIDTH, _HALF_WIDTH, 3, padding=1),
            nn.SiLU(),
            nn.Conv2d(_HALF_WIDTH, 12 * num_cameras, 3, padding=1),
            nn.PixelShuffle(2),
        )

    def forward(self, z: Tensor) -> Tensor:
        """Decode."""
        difference: Tensor = self.net(z).float()
        return difference


class Autoencoder(nn.Module):
    """Encoder and decoder around a fixed background, the median frame of the interaction data.

    With a camera that does not move, the networks then spend nothing on what never changes.
    """

    background: Tensor

    def __init__(self, num_cameras: int, height: int, width: int, latent_channels: int, channels: int) -> None:
        super().__init__()
        self.encoder = Encoder(num_cameras, latent_channels, channels)
        self.decoder = Decoder(num_cameras, latent_channels, channels)
        self.register_buffer("background", torch.zeros(3 * num_cameras, height, width))

    def encode(self, frames: Tensor) -> Tensor:
        """(B, 3V, H, W) float in [0, 1] -> latents (B, C, H/4, W/4) float32 in [-1, 1]."""
        return self.encoder(frames - self.background)

    def decode(self, latents: Tensor) -> Tensor:
        """Latents -> (B, 3V, H, W) float32; outside [0, 1] where the network overshoots."""
        return self.decoder(latents) + self.background


def reconstruction_loss(decoded: Tensor, difference: Tensor) -> Tensor:
    """L1 + L2, nine times as heavy where the frame differs from the background, plus L1 of the image gradient.

    Args:
        decoded: (B, 3V, H, W) what the decoder made.
        difference: the frame's true difference from the background.
    """
    error = decoded - difference
    foreground = (difference.abs().amax(1, keepdim=True) > 0.1).float()
    foreground = F.max_pool2d(foreground, 3, stride=1, padding=1)
    weighted = ((1 + 8 * foreground) * (error.abs() + error.square())).mean()
    edges = error.diff(dim=-1).abs().mean() + error.diff(dim=-2).abs().mean()
    return weighted + 0.5 * edges
