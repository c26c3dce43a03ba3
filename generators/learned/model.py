"""A learned world's networks as one module, with the units of its robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ...storage.errors import SpecMismatch
from ...storage.spec import EpisodeSpec, Vector
from .autoencoder import Autoencoder, Decoder
from .body_frames import cosines_in
from .canvas import canvas_size
from .config import WorldConfig
from .consistency import NoisyChange, sample
from .consistency_decoder import PIXELS, ConsistencyDecoder
from .dynamics import Dynamics, advance
from .inverse_dynamics import InverseDynamics
from .optimisation import autocast
from .plausibility import Plausibility
from .reader import Reader
from .trust import Trust, more_slip
from .vector_dynamics import VectorDynamics, VectorReader, keep_on_circles


def vector_names(spec: EpisodeSpec) -> list[str]:
    """Of the numbers of a vector: the state's, then those of all labels."""
    return [*spec.state.names, *(name for label in spec.labels.values() for name in label.names)]


class WorldModel(nn.Module):
    """Autoencoder, dynamics, and what reads the score.

    A moment is a 2-D latent, which a frame is encoded to and decoded from, and a vector of state and labels, which
    says in numbers what the frame is about. Where the data has no labels the vector is the state alone.

    Args:
        config: sizes.
        spec: cameras, state, action and labels of the robot.
        tasks: the texts of the tasks, at least one.
    """

    vector_centre: Tensor
    vector_scale: Tensor
    action_centre: Tensor
    action_scale: Tensor
    success_threshold: Tensor

    def __init__(self, config: WorldConfig, spec: EpisodeSpec, tasks: Sequence[str] = ("",)) -> None:
        super().__init__()
        self.config, self.spec, self.tasks = config, spec, tuple(tasks)
        self.canvas = canvas_size(spec.cameras, config.canvas_multiple)
        height, width = (side // config.downscale for side in self.canvas)
        size = spec.state.size + sum(label.size for label in spec.labels.values())
        self.autoencoder = Autoencoder(
            len(spec.cameras), *self.canvas, config.latent_channels, config.autoencoder_width, config.downscale,
            ConsistencyDecoder if self.samples_frames else Decoder,
        )  # fmt: skip
        self.dynamics = Dynamics(config, height, width, size, spec.action.size, len(self.tasks))
        names = vector_names(spec)
        self.vector_dynamics = VectorDynamics(names, spec.action.size, config.vector_width, config.vector_members)
        self.plausibility = Plausibility(names, spec.state.size, config.vector_width) if spec.labels else None
        self.cosines = cosines_in(names)
        self.score_head: nn.Module = (
            VectorReader(size, len(self.tasks), config.vector_width)
            if spec.labels
            else Reader(config.latent_channels, height, width, len(self.tasks), config.reader_width, num_blocks=3)
        )
        reads_back = config.reads_actions_back(bool(spec.labels))
        self.inverse_dynamics = InverseDynamics(config, height, width, spec.action.size) if reads_back else None
        self.trust = Trust(spec.action.size if reads_back else 0)
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

    @property
    def wide_networks(self) -> list[nn.Module]:
        """Those which are worth an accelerator: the others see a handful of numbers."""
        wide = [self.autoencoder.encoder, self.autoencoder.decoder, self.dynamics, self.inverse_dynamics]
        return [network for network in wide if network is not None]

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

    def task_number(self, text: str) -> int:
        """The number of a task; a world of one task takes any to be that one.

        Raises:
            SpecMismatch: it is none of several.
        """
        if len(self.tasks) > 1 and text not in self.tasks:
            known = ", ".join(map(repr, self.tasks))
            raise SpecMismatch(f"this world was not trained on the task {text!r}; choose one of {known}")
        return self.tasks.index(text) if len(self.tasks) > 1 else 0

    def encode(self, frames: np.ndarray) -> Tensor:
        """(B, H, W, 3V) uint8 -> latents (B, C, H/downscale, W/downscale) float32."""
        with autocast():
            latents: Tensor = self.autoencoder.encode(to_float(frames))
        return latents

    def decode(self, latents: Tensor, noise: Tensor | None = None) -> np.ndarray:
        """Latents -> (B, H, W, 3V) uint8; `noise` as for `decode_float`."""
        return to_uint8(self.decode_float(latents, noise))

    def decode_float(self, latents: Tensor, noise: Tensor | None = None) -> Tensor:
        """Latents -> (B, 3V, H, W) float32, not clipped.

        Args:
            noise: (B, decoding_steps, 3V, H, W) standard normal, of which a consistency decoder makes its sample;
                always the same if None. A direct one has no use for it.
        """

        def decode(noisy: NoisyChange | None) -> Tensor:
            with autocast():
                return self.autoencoder.decode(latents, noisy)

        background = self.autoencoder.background.expand(len(latents), -1, -1, -1)
        return sample(decode, background, self.config.decoding_noises, noise, PIXELS)

    def predict(
        self, latents: Tensor, vectors: Tensor, actions: Tensor, task: Tensor | None = None, noise: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """The next moment, from the last ones, the present one last.

        Args:
            latents: (B, num_latents, C, H, W), an anchor first.
            vectors: (B, history, D).
            actions: (B, history, A), scaled.
            task: (B,) int64, needed where there are several tasks.
            noise: (B, sampling_steps, C, H, W) standard normal, of which a consistency model makes its sample;
                always the same if None. A regression has no use for it.

        Returns:
            The next latent (B, C, H, W) and the next vector (B, D).
        """
        vector, _ = self.predict_vector(vectors, actions)
        return self.draw(latents, vector, actions, task, noise), vector

    def predict_vector(self, vectors: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """The next vector, which does not depend on latents; arguments as for `predict`.

        Returns:
            The vector (B, D), and a doubt (B,): how far the members of the dynamics disagree about it, and how far
            what they make of it together lay from what occurs.
        """
        return self.settle_vector(*self.guess_vector(vectors, actions))

    def guess_vector(self, vectors: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """What the dynamics alone makes of it: a vector that need not occur, and a doubt, as `predict_vector`."""
        change, spread = self.vector_dynamics.agree(vectors[:, -2:], actions[:, -2:])
        return keep_on_circles(vectors[:, -1] + change, vectors[:, -1], self.cosines), spread.norm(dim=1)

    def settle_vector(self, vector: Tensor, doubt: Tensor) -> tuple[Tensor, Tensor]:
        """A vector that occurs, from the guess (B, D) and its doubt (B,)."""
        if self.plausibility is None:
            return vector, doubt
        settled = self.plausibility.settle(vector)
        return settled, doubt + (settled - vector).norm(dim=1)

    @property
    def draws_anew(self) -> bool:
        """Whether frames are drawn from the vector alone, since labels say where things are.

        A latent that is not made from the last one cannot melt, however long the rollout.
        """
        return bool(self.spec.labels)

    def draw(
        self, latents: Tensor, vector: Tensor, actions: Tensor, task: Tensor | None = None, noise: Tensor | None = None
    ) -> Tensor:
        """The next latent (B, C, H, W), given the next vector (B, D); other arguments as for `predict`."""
        shown = None if self.draws_anew else latents
        level = latents.new_full((len(latents),), float(self.draws_anew))
        present = torch.zeros_like(latents[:, -1]) if shown is None else shown[:, -1]

        def predict(noisy: NoisyChange | None) -> Tensor:
            with autocast():
                delta, gate = self.dynamics(shown, vector, actions, level, task=task, noisy=noisy)
            return self.advance(present, delta, gate)

        return sample(predict, present, self.config.prediction_noises, noise)

    def noise_shape(self, count: int) -> tuple[int, ...]:
        """Of the noise that `draw` makes a sample of."""
        config = self.config
        size = (config.latent_channels, *(side // config.downscale for side in self.canvas))
        return (count, config.prediction_noises, *size)

    def frame_noise_shape(self, count: int) -> tuple[int, ...]:
        """Of the noise that `decode` makes a sample of."""
        return (count, self.config.decoding_noises, 3 * len(self.spec.cameras), *self.canvas)

    @property
    def samples(self) -> bool:
        """Whether predictions are samples."""
        return self.config.prediction == "consistency"

    @property
    def samples_frames(self) -> bool:
        """Whether frames are samples of what their latents may stand for."""
        return self.config.decoder == "consistency"

    def advance(self, present: Tensor, delta: Tensor, gate_logits: Tensor, exact: bool = True) -> Tensor:
        """The next latent from what the dynamics says of it, see `dynamics.advance`; without a gate all may change."""
        if self.draws_anew or not self.config.gate:
            return (present + delta).clamp(-1, 1)
        return advance(present, delta, gate_logits, exact)

    def slip(self, slip: Tensor, before: Tensor, after: Tensor, told: Tensor) -> Tensor:
        """Slip (B,) after a step, see `trust.more_slip`; as it was where nothing reads actions back.

        Args:
            before, after: (B, C, H, W) the latents around the step.
            told: (B, A) the action commanded, scaled.
        """
        if self.inverse_dynamics is None:
            return slip
        return more_slip(slip, self.trust.misread(self.inverse_dynamics(before, after), told))

    def score(self, latents: Tensor, vectors: Tensor, task: Tensor | None = None) -> Tensor:
        """The score (B,) in [0, 1], read from the vectors where the data had labels, else from the latents."""
        read = self.score_head(vectors if self.spec.labels else latents)
        return of_task(read, task).clamp(0, 1)


def of_task(read: Tensor, task: Tensor | None) -> Tensor:
    """What was read for every task (B, num_tasks) -> (B,) of each row's own, of the first if None."""
    return read[:, 0] if task is None else read.gather(1, task[:, None])[:, 0]


def to_float(frames: np.ndarray) -> Tensor:
    """(B, H, W, C) uint8 -> (B, C, H, W) float32 in [0, 1], channels last in memory."""
    return torch.from_numpy(np.ascontiguousarray(frames)).permute(0, 3, 1, 2).float() / 255


def to_uint8(images: Tensor) -> np.ndarray:
    """(B, C, H, W) float -> (B, H, W, C) uint8, rounded."""
    return as_bytes(images).numpy()


def as_bytes(images: Tensor) -> Tensor:
    """`to_uint8`, as a tensor."""
    scaled = (images.float().clamp(0, 1) * 255).round().to(torch.uint8)
    return scaled.permute(0, 2, 3, 1).contiguous()


def _units(vector: Vector) -> tuple[Tensor, Tensor]:
    """Centre and half width of a vector's bounds; 0 and 1 where a bound is not finite."""
    low, high = (torch.tensor(bound, dtype=torch.float32) for bound in (vector.low, vector.high))
    bounded = torch.isfinite(low) & torch.isfinite(high) & (high > low)
    centre, scale = (low + high) / 2, (high - low) / 2
    return torch.where(bounded, centre, 0.0), torch.where(bounded, scale, 1.0)
