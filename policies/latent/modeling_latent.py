"""The latent policy: flow matching over action chunks, seen through the frozen eyes of a world model.

B batch, O observations, T actions in a chunk, A action size, F flow samples.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import Any

import torch
from lerobot.policies.pretrained import PreTrainedPolicy
from lerobot.policies.utils import populate_queues
from lerobot.utils.constants import ACTION, OBS_STATE
from torch import Tensor

from ...generators.learned.optimisation import autocast
from .configuration_latent import LatentConfig
from .eyes import ProbeEyes, make_eyes, open_eyes
from .flow import FlowHead
from .observers import MapObserver, ReadingObserver

SEEN = "observation.seen"


class LatentPolicy(PreTrainedPolicy):
    """A small policy that trains fast because its eyes are trained already.

    Rectified flow (arXiv 2209.03003): x_s = (1 - s) noise + s x, the network predicts x - noise, Euler steps
    carry noise to actions. Actions are predicted relative to the robot's present state where `relative_to` says so.

    Args:
        config: its settings; `eyes` are frozen networks of a world, whose weights stand in the policy's own file.
        dataset_stats: mean and std of state and action, as the processors normalise with; a loaded policy has
            what it needs of them in its weights.
    """

    anchor_scale: Tensor
    anchor_shift: Tensor
    offset_scale: Tensor

    config_class = LatentConfig
    name = "latent"

    def __init__(self, config: LatentConfig, dataset_stats: dict[str, Any] | None = None, **_: Any) -> None:
        super().__init__(config)
        config.validate_features()
        self.eyes = make_eyes(config.eyes, config.eyes_settings)
        self.observe = new_observer(config, self.eyes(blank_frames(config)).shape[1:], dataset_stats)
        action_size, state_size = config.action_feature.shape[0], config.robot_state_feature.shape[0]
        self.flow = FlowHead(config.chunk_size, action_size, config.embedding, config.num_blocks, config.dropout)
        scale, shift = anchor(config.relative_to or [-1] * action_size, state_size, dataset_stats)
        self.register_buffer("anchor_scale", scale)
        self.register_buffer("anchor_shift", shift)
        self.register_buffer("offset_scale", torch.ones(action_size))
        self.reset()

    def get_optim_params(self) -> dict:
        """All but the eyes."""
        return [parameter for parameter in self.parameters() if parameter.requires_grad]  # type: ignore[return-value]

    def reset(self) -> None:
        """Forget past observations and planned actions."""
        self._queues: dict[str, deque[Tensor]] = {ACTION: deque(maxlen=self.config.n_action_steps)}
        for key in [OBS_STATE, *self.config.image_features]:
            self._queues[key] = deque(maxlen=self.config.n_obs_steps)

    @torch.no_grad()
    def look(self, images: dict[str, Tensor]) -> Tensor:
        """What the eyes see of frames.

        Args:
            images: `observation.images.<camera>` (..., 3, H, W) in [0, 1] for each camera.

        Returns:
            Readings (..., L) or latents (..., C, h, w).
        """
        frames = torch.cat([images[key] for key in self.config.image_features], -3)
        return self.eyes(frames.flatten(0, -4)).unflatten(0, frames.shape[:-3])

    @torch.no_grad()
    def calibrate(self, batch: dict[str, Tensor]) -> None:
        """Measure how far actions lie from their anchor, in a normalised batch, so that targets have unit size."""
        offsets = batch[ACTION] - self._anchor(batch[OBS_STATE])
        self.offset_scale.copy_(offsets[~batch["action_is_pad"]].square().mean(0).sqrt().clamp_min(1e-3))

    def forward(self, batch: dict[str, Tensor]) -> tuple[Tensor, dict[str, float] | None]:
        """Flow-matching loss of a normalised batch.

        Args:
            batch: `observation.state` (B, O, S), `action` (B, T, A), `action_is_pad` (B, T) bool and
                `observation.images.<camera>` (B, O, 3, H, W) in [0, 1], or what the eyes see of them,
                `observation.seen` (B, O, L) or (B, O, C, h, w), as `look` gives it.
        """
        target = ((batch[ACTION] - self._anchor(batch[OBS_STATE])) / self.offset_scale)[:, None]
        num_samples = self.config.flow_samples
        time = torch.rand(len(target), num_samples, device=target.device)
        noise = torch.randn(len(target), num_samples, *target.shape[2:], device=target.device)
        noisy = torch.lerp(noise, target, time[..., None, None])
        with autocast(self.training and target.device.type == "cpu"):
            observed = self._observe(batch)[:, None].expand(-1, num_samples, -1)
            velocity = self.flow(noisy, time, observed).float()
        error = (velocity - (target - noise)).square().mean((1, 3))
        real = ~batch["action_is_pad"]
        return (error * real).sum() / real.sum().clamp_min(1), None

    @torch.no_grad()
    def predict_action_chunk(self, batch: dict[str, Tensor], noise: Tensor | None = None, **_: Any) -> Tensor:
        """Normalised observations -> normalised actions (B, T, A), from `noise` (B, T, A) or fresh noise."""
        observed = self._observe(batch)
        actions = self._noise(observed) if noise is None else noise
        steps = self.config.num_inference_steps
        for step in range(steps):
            time = torch.full((len(actions),), step / steps, device=actions.device)
            actions = actions + self.flow(actions, time, observed) / steps
        return actions * self.offset_scale + self._anchor(batch[OBS_STATE])

    @torch.no_grad()
    def select_action(self, batch: dict[str, Tensor], noise: Tensor | None = None, **_: Any) -> Tensor:
        """The next action (B, A) for one normalised observation a row, planning anew when the plan is used up."""
        batch = {key: value for key, value in batch.items() if key != ACTION}
        self._queues = populate_queues(self._queues, batch)
        if not self._queues[ACTION]:
            seen = {key: torch.stack(list(queue), 1) for key, queue in self._queues.items() if key != ACTION}
            chunk = self.predict_action_chunk(seen, noise)
            self._queues[ACTION].extend(chunk[:, : self.config.n_action_steps].transpose(0, 1))
        return self._queues[ACTION].popleft()

    def _observe(self, batch: dict[str, Tensor]) -> Tensor:
        seen = batch[SEEN].float() if SEEN in batch else self.look(batch)
        if self.training:
            seen = seen + self.config.observation_noise * torch.randn_like(seen)
        observed: Tensor = self.observe(seen, batch[OBS_STATE])
        return observed

    @torch.no_grad()
    def adopt(self, world: Path) -> None:
        """Take over the eyes of a world checkpoint."""
        open_eyes(self.eyes, world)
        if isinstance(self.observe, ReadingObserver) and isinstance(self.eyes, ProbeEyes):
            self.observe.reading_mean.copy_(self.eyes.net.mean)
            self.observe.reading_scale.copy_(self.eyes.net.scale)

    def _anchor(self, state: Tensor) -> Tensor:
        """(B, O, S) normalised -> (B, 1, A): the present state in the action's normalised units."""
        return (state[:, -1] @ self.anchor_scale.T + self.anchor_shift)[:, None]

    def _noise(self, observed: Tensor) -> Tensor:
        shape = (len(observed), self.config.chunk_size, self.config.action_feature.shape[0])
        return torch.randn(shape, device=observed.device)


def new_observer(config: LatentConfig, seen: torch.Size, stats: dict[str, Any] | None) -> ReadingObserver | MapObserver:
    """What turns the eyes' output, of shape `seen` for one frame, and the state into one vector."""
    frames, state_size = config.n_obs_steps, config.robot_state_feature.shape[0]
    if len(seen) > 1:
        channels, height, width = seen
        return MapObserver(
            (channels, height, width), frames, state_size, config.width, config.embedding, config.dropout
        )
    observer = ReadingObserver(seen[0], frames, state_size, config.poses, config.embedding, config.dropout)
    if stats is not None:
        observer.state_mean.copy_(torch.as_tensor(stats[OBS_STATE]["mean"]))
        observer.state_scale.copy_(torch.as_tensor(stats[OBS_STATE]["std"]))
    return observer


def blank_frames(config: LatentConfig) -> Tensor:
    """One frame of every camera, stacked along the channels, as the encoder takes them."""
    return torch.cat([torch.zeros(1, *feature.shape) for feature in config.image_features.values()], 1)


def anchor(relative_to: list[int], state_size: int, stats: dict[str, Any] | None) -> tuple[Tensor, Tensor]:
    """Weights (A, S) and shift (A,) that turn a normalised state into the normalised action 'stay there'."""
    scale, shift = torch.zeros(len(relative_to), state_size), torch.zeros(len(relative_to))
    if stats is None:
        return scale, shift
    state, action = (
        {name: torch.as_tensor(stats[key][name], dtype=torch.float32) for name in ("mean", "std")}
        for key in (OBS_STATE, ACTION)
    )
    for row, column in enumerate(relative_to):
        if column >= 0:
            scale[row, column] = state["std"][column] / action["std"][row]
            shift[row] = (state["mean"][column] - action["mean"][row]) / action["std"][row]
    return scale, shift
