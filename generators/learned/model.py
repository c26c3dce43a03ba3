"""A learned world's networks as one module, with the units of its robot."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from ...storage.spec import EpisodeSpec, Vector
from .autoencoder import Autoencoder
from .config import DOWNSCALE, WorldConfig
from .dynamics import Dynamics, advance
from .optimisation import autocast
from .reader import Reader


class WorldModel(nn.Module):
    """Autoencoder, dynamics and the head that reads state and score from a latent.

    Args:
        config: sizes.
        spec: cameras, state and action of the robot.
    """

    state_mean: Tensor
    state_scale: Tensor
    action_centre: Tensor
    action_scale: Tensor
    success_threshold: Tensor
    trust_usual: Tensor
    trust_limit: Tensor

    def __init__(self, config: WorldConfig, spec: EpisodeSpec) -> None:
        super().__init__()
        self.config, self.spec = config, spec
        camera, channels = spec.cameras[0], config.latent_channels
        height, width = camera.height // DOWNSCALE, camera.width // DOWNSCALE
        self.autoencoder = Autoencoder(
            len(spec.cameras), camera.height, camera.width, channels, config.autoencoder_width
        )
        self.dynamics = Dynamics(
            channels, height, width, spec.action.size, config.history, config.action_pixels,
            config.dynamics_width, config.num_dynamics_blocks,
        )  # fmt: skip
        self.head = Reader(channels, height, width, spec.state.size + 1, config.reader_width, num_blocks=3)
        self._register_units()
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def _register_units(self) -> None:
        centre, scale = _units(self.spec.action)
        self.register_buffer("action_centre", centre)
        self.register_buffer("action_scale", scale)
        self.register_buffer("state_mean", torch.zeros(self.spec.state.size))
        self.register_buffer("state_scale", torch.ones(self.spec.state.size))
        # Above 1 no frame is a success: what holds until data with successes says otherwise.
        self.register_buffer("success_threshold", torch.tensor(2.0))
        self.register_buffer("trust_usual", torch.tensor(0.0))
        self.register_buffer("trust_limit", torch.tensor(1.0))

    def scale_actions(self, actions: Tensor) -> Tensor:
        """Actions in the units of the spec -> [-1, 1] from low to high."""
        return (actions - self.action_centre) / self.action_scale

    def encode(self, frames: np.ndarray) -> Tensor:
        """(B, H, W, 3V) uint8 -> latents (B, C, H/4, W/4) float32."""
        with autocast():
            latents: Tensor = self.autoencoder.encode(to_float(frames))
        return latents

    def decode(self, latents: Tensor) -> np.ndarray:
        """Latents -> (B, H, W, 3V) uint8."""
        return to_uint8(self.decode_float(latents))

    def decode_float(self, latents: Tensor) -> Tensor:
        """Latents -> (B, 3V, H, W) float32, not clipped."""
        with autocast():
            decoded: Tensor = self.autoencoder.decode(latents)
        return decoded

    def predict(self, history: Tensor, actions: Tensor) -> Tensor:
        """The next latent (B, C, H, W) from (B, history, C, H, W) and scaled actions (B, history, A)."""
        with autocast():
            delta, gate = self.dynamics(history, actions, history.new_zeros(len(history)))
        return advance(history[:, -1], delta, gate)

    def read(self, latents: Tensor) -> tuple[Tensor, Tensor]:
        """State (B, S) in the units of the spec and score (B,) in [0, 1]."""
        out = self.head(latents)
        return out[:, :-1] * self.state_scale + self.state_mean, out[:, -1].clamp(0, 1)


def to_float(frames: np.ndarray) -> Tensor:
    """(B, H, W, C) uint8 -> (B, C, H, W) float32 in [0, 1], channels last in memory."""
    return torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float() / 255


def to_uint8(images: Tensor) -> np.ndarray:
    """(B, C, H, W) float -> (B, H, W, C) uint8, rounded."""
    scaled = (images.float().clamp(0, 1) * 255).round().to(torch.uint8)
    return scaled.permute(0, 2, 3, 1).contiguous().numpy()


def _units(vector: Vector) -> tuple[Tensor, Tensor]:
    """Centre and half width of a vector's bounds; 0 and 1 where a bound is not finite."""
    low, high = (torch.tensor(bound, dtype=torch.float32) for bound in (vector.low, vector.high))
    bounded = torch.isfinite(low) & torch.isfinite(high) & (high > low)
    centre, scale = (low + high) / 2, (high - low) / 2
    return torch.where(bounded, centre, 0.0), torch.where(bounded, scale, 1.0)
