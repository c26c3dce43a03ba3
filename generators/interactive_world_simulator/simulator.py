"""Encoder, dynamics and decoder together, as the release uses them."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .config import SimulatorConfig
from .decoder import Decoder
from .dynamics import Dynamics
from .levels import jump, ladder, signal_shares

#: Latents in a window, the one to be predicted included.
WINDOW = 10


class Simulator(nn.Module):
    """What happens in the release between frames and actions scaled to [-1, 1] and the next frame.

    Latents are (4V, h, w); at every place the four numbers of a view have length one.

    Args:
        config: sizes and numbers of steps.
    """

    shares: Tensor

    def __init__(self, config: SimulatorConfig) -> None:
        super().__init__()
        self.config = config
        channels, frame_channels = config.latent_channels, config.frame_channels
        self.encoder = _encoder(frame_channels, channels, config.num_downsamples)
        self.dynamics = Dynamics(config.dynamics, channels, config.action_size)
        self.decoder = Decoder(config.decoder, frame_channels, channels, config.num_downsamples)
        self.register_buffer("shares", signal_shares(config.num_levels), persistent=False)

    def encode(self, frames: Tensor) -> Tensor:
        """Latents (B, 4V, h, w) of frames (B, 3V, H, W) in [-1, 1]."""
        return _on_sphere(self.encoder(frames), len(self.config.cameras))

    def predict(self, latents: Tensor, actions: Tensor, noise: Tensor) -> Tensor:
        """The next latent (B, 4V, h, w).

        Args:
            latents: (B, L, 4V, h, w), 1 <= L < WINDOW, the present one last.
            actions: (B, L + 1, A) scaled: those that led to each latent, and to the next one.
            noise: (B, 4V, h, w) standard normal.
        """
        batch, length = latents.shape[:2]
        past, following = latents.transpose(1, 2), noise
        history = torch.full((batch, length), self.config.history_level, device=latents.device)
        for start, stop in ladder(self.config.num_levels, self.config.dynamics_steps):
            window = torch.cat([past, following[:, :, None]], dim=2)
            at, to = (torch.cat([history, history.new_full((batch, 1), level)], dim=1) for level in (start, stop))
            velocity = self.dynamics(window, at, to, actions)[:, :, -1]
            following = jump(following, velocity, start, stop, self.shares)
        return _on_sphere(following, len(self.config.cameras))

    def decode(self, latents: Tensor, noise: Tensor) -> Tensor:
        """Frames (B, 3V, H, W), about [-1, 1], of latents (B, 4V, h, w), from standard normal noise of their shape."""
        frames = noise
        for start, stop in ladder(self.config.num_levels, self.config.decoder_steps):
            at, to = (torch.full((len(frames),), level, device=frames.device) for level in (start, stop))
            frames = jump(frames, self.decoder(frames, at, to, latents), start, stop, self.shares)
        return frames


def _encoder(frame_channels: int, channels: int, num_downsamples: int) -> nn.Sequential:
    layers: list[nn.Module] = [nn.Conv2d(frame_channels, channels, 3, padding=1)]
    for _ in range(num_downsamples):
        layers += [nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1)]
        layers += [nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1, stride=2)]
    return nn.Sequential(*layers)


def _on_sphere(latents: Tensor, num_views: int) -> Tensor:
    """(B, 4V, h, w) with the numbers of each view brought to length one."""
    views = latents.unflatten(1, (num_views, -1))
    return (views / (views.norm(dim=2, keepdim=True) + 1e-8)).flatten(1, 2)
