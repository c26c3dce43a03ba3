"""A learned world's networks as one module, with the units of its robot."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from ...storage.spec import EpisodeSpec, Vector
from .autoencoder import Autoencoder
from .body_frames import cosines_in
from .config import DOWNSCALE, WorldConfig
from .dynamics import Dynamics, advance
from .layers import by_row
from .optimisation import autocast
from .reader import Reader
from .vector_dynamics import VectorDynamics, VectorReader, advance_vector, keep_on_circles


class WorldModel(nn.Module):
    """Autoencoder, dynamics, and what reads the score.

    A moment is a 2-D latent, which a frame is encoded to and decoded from, and a vector of state and labels, which
    says in numbers what the frame is about. Where the data has no labels the vector is the state alone.

    Args:
        config: sizes.
        spec: cameras, state, action and labels of the robot.
    """

    vector_centre: Tensor
    vector_scale: Tensor
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
        size = spec.state.size + sum(label.size for label in spec.labels.values())
        self.autoencoder = Autoencoder(
            len(spec.cameras), camera.height, camera.width, channels, config.autoencoder_width
        )
        self.dynamics = Dynamics(
            channels, height, width, size, spec.action.size, config.history,
            config.dynamics_width, config.num_dynamics_blocks,
        )  # fmt: skip
        names = [*spec.state.names, *(name for label in spec.labels.values() for name in label.names)]
        self.vector_dynamics = VectorDynamics(names, spec.action.size, config.vector_width)
        self._cosines = cosines_in(names)
        self.score_head: nn.Module = (
            VectorReader(size, 1, config.vector_width)
            if spec.labels
            else Reader(channels, height, width, 1, config.reader_width, num_blocks=3)
        )
        self._register_units()
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def _register_units(self) -> None:
        vectors = [_units(vector) for vector in (self.spec.state, *self.spec.labels.values())]
        centre, scale = _units(self.spec.action)
        self.register_buffer("action_centre", centre)
        self.register_buffer("action_scale", scale)
        self.register_buffer("vector_centre", torch.cat([centre for centre, _ in vectors]))
        self.register_buffer("vector_scale", torch.cat([scale for _, scale in vectors]))
        # Above 1 no frame is a success: what holds until data with successes says otherwise.
        self.register_buffer("success_threshold", torch.tensor(2.0))
        self.register_buffer("trust_usual", torch.tensor(0.0))
        self.register_buffer("trust_limit", torch.tensor(1.0))

    def scale_actions(self, actions: Tensor) -> Tensor:
        """Actions in the units of the spec -> [-1, 1] from low to high."""
        return (actions - self.action_centre) / self.action_scale

    def scale_vectors(self, state: np.ndarray, labels: Mapping[str, np.ndarray]) -> Tensor:
        """State (B, S) and labels, each (B, L), in the units of the spec -> vectors (B, D), [-1, 1] in bounds."""
        numbers = np.concatenate([state, *(labels[name] for name in self.spec.labels)], axis=1)
        return (torch.from_numpy(np.asarray(numbers, np.float32)) - self.vector_centre) / self.vector_scale

    def state_of(self, vectors: Tensor) -> Tensor:
        """Vectors (B, D) -> state (B, S) in the units of the spec."""
        return (vectors * self.vector_scale + self.vector_centre)[:, : self.spec.state.size]

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

    def predict(self, latents: Tensor, vectors: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """The next moment, from the last ones, the present one last.

        Args:
            latents: (B, history, C, H, W).
            vectors: (B, history, D).
            actions: (B, history, A), scaled.

        Returns:
            The next latent (B, C, H, W) and the next vector (B, D).
        """
        vector = self.predict_vector(vectors, actions)
        return self.draw(latents, vector, actions), vector

    def predict_vector(self, vectors: Tensor, actions: Tensor) -> Tensor:
        """The next vector (B, D), which does not depend on latents; arguments as for `predict`."""
        change, gate = self.vector_dynamics(vectors[:, -2:], actions[:, -2:])
        vector = advance_vector(vectors[:, -1], change, gate)
        return keep_on_circles(vector, vectors[:, -1], self._cosines)

    @property
    def draws_anew(self) -> bool:
        """Whether frames are drawn from the vector alone, since labels say where things are.

        A latent that is not made from the last one cannot melt, however long the rollout.
        """
        return bool(self.spec.labels)

    def draw(self, latents: Tensor, vector: Tensor, actions: Tensor) -> Tensor:
        """The next latent (B, C, H, W), given the next vector (B, D)."""
        with autocast():
            if self.draws_anew:
                hidden = torch.zeros_like(latents)
                return self.dynamics(hidden, vector, actions, latents.new_ones(len(latents)))[0].clamp(-1, 1)
            delta, gate = self.dynamics(latents, vector, actions, latents.new_zeros(len(latents)))
        return advance(latents[:, -1], delta, gate)

    def score(self, latents: Tensor, vectors: Tensor) -> Tensor:
        """The score (B,) in [0, 1], read from the vectors where the data had labels, else from the latents."""
        out = by_row(self.score_head, vectors if self.spec.labels else latents)
        return out[:, 0].clamp(0, 1)


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
