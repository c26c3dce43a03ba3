"""A whole policy, raw observations to the robot's actions, as one module that can be exported."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from ..storage.errors import CheckpointError
from ..teleop.policy_checkpoint import PolicyCheckpoint

STATE, ACTION, IMAGES = "observation.state", "action", "observation.images."


class PolicyProgram(nn.Module):
    """What `PolicyCheckpoint.plan` does, without LeRobot's pipelines around the network.

    Takes the frames of each camera (B, O, H, W, 3) uint8, then the state (B, O, S) float32, then the noise (B, T, A)
    float32 where the policy starts from one; gives the actions (B, T, A) float32 in the robot's units.
    """

    unnormalize: Affine

    def __init__(self, checkpoint: PolicyCheckpoint) -> None:
        super().__init__()
        self.policy = checkpoint.policy
        config = checkpoint.policy.config
        self.keys = [*config.image_features, STATE]
        self.timed = config.observation_delta_indices is not None
        normalizer, unnormalizer = (
            next(step for step in pipeline.steps if getattr(step, "norm_map", None))
            for pipeline in (checkpoint.preprocessor, checkpoint.postprocessor)
        )
        self.normalize = nn.ModuleList(Affine.normalizing(normalizer, key) for key in self.keys)
        self.unnormalize = Affine.unnormalizing(unnormalizer, ACTION)
        self.sample = sampler(checkpoint.policy)

    def forward(self, *inputs: Tensor) -> Tensor:
        """See the class."""
        batch = {}
        for key, normalize, values in zip(self.keys, self.normalize, inputs, strict=False):
            seen = values if self.timed else values[:, -1]
            batch[key] = normalize(seen.movedim(-1, -3).float() / 255 if key.startswith(IMAGES) else seen)
        return self.unnormalize(self.sample(self.policy, batch, *inputs[len(self.keys) :]))


class Affine(nn.Module):
    """x * scale + shift, channel by channel: what LeRobot's normalisation steps come to."""

    scale: Tensor
    shift: Tensor

    def __init__(self, scale: Tensor, shift: Tensor) -> None:
        super().__init__()
        self.register_buffer("scale", scale)
        self.register_buffer("shift", shift)

    def forward(self, x: Tensor) -> Tensor:
        """Any shape that ends in that of scale and shift."""
        return x * self.scale + self.shift

    @classmethod
    def normalizing(cls, step: Any, key: str) -> Affine:
        """Robot's units -> the policy's."""
        low, span = _origin_and_span(step, key, step.eps)
        offset = -1.0 if _mode(step, key) == "MIN_MAX" else 0.0
        return cls(1 / span, offset - low / span)

    @classmethod
    def unnormalizing(cls, step: Any, key: str) -> Affine:
        """The policy's units -> the robot's."""
        low, span = _origin_and_span(step, key, 0.0)
        offset = -1.0 if _mode(step, key) == "MIN_MAX" else 0.0
        return cls(span, low - offset * span)


def sample_directly(policy: Any, batch: dict[str, Tensor], noise: Tensor) -> Tensor:
    """A policy that carries its noise to actions by itself."""
    return policy.predict_action_chunk(batch, noise=noise)


def sample_act(policy: Any, batch: dict[str, Tensor]) -> Tensor:
    """ACT draws nothing at inference; its latent variable is zero."""
    images = [batch[key] for key in policy.config.image_features]
    return policy.model({**batch, "observation.images": images})[0]


def diffusion_sampler(policy: Any) -> Callable[..., Tensor]:
    """DDIM without added noise (arXiv 2010.02502, eq. 12 with sigma 0), unrolled.

    The same as LeRobot's loop, whose scheduler indexes tables by tensors, which cannot be exported.
    """
    model, config = policy.diffusion, policy.config
    if config.noise_scheduler_type != "DDIM" or config.prediction_type != "epsilon":
        raise CheckpointError(
            f"a diffusion policy is exported with noise_scheduler_type DDIM and prediction_type epsilon, got "
            f"{config.noise_scheduler_type} and {config.prediction_type}; train it again with these settings"
        )
    model.noise_scheduler.set_timesteps(model.num_inference_steps)
    steps, alphas = model.noise_scheduler.timesteps.tolist(), model.noise_scheduler.alphas_cumprod.tolist()
    stride = config.num_train_timesteps // model.num_inference_steps
    clip = config.clip_sample_range if config.clip_sample else math.inf

    def sample(policy: Any, batch: dict[str, Tensor], noise: Tensor) -> Tensor:
        images = torch.stack([batch[key] for key in config.image_features], -4)
        condition = model._prepare_global_conditioning({**batch, "observation.images": images})
        x = noise
        for t in steps:
            alpha, alpha_next = alphas[t], alphas[t - stride] if t >= stride else 1.0
            eps = model.unet(x, torch.full(x.shape[:1], t, dtype=torch.long), global_cond=condition)
            clean = ((x - (1 - alpha) ** 0.5 * eps) / alpha**0.5).clamp(-clip, clip)
            x = alpha_next**0.5 * clean + (1 - alpha_next) ** 0.5 * eps
        first = config.n_obs_steps - 1
        return x[:, first : first + config.n_action_steps]

    return sample


def sampler(policy: Any) -> Callable[..., Tensor]:
    """How normalised observations (and noise) become normalised actions: (policy, batch[, noise]) -> (B, T, A)."""
    if policy.config.type == "diffusion":
        return diffusion_sampler(policy)
    return sample_act if policy.config.type == "act" else sample_directly


def _mode(step: Any, key: str) -> str:
    mode = step.norm_map.get(step.features[key].type)
    return mode.name if mode else "IDENTITY"


def _origin_and_span(step: Any, key: str, eps: float) -> tuple[Tensor, Tensor]:
    mode = _mode(step, key)
    if mode == "IDENTITY":
        return torch.zeros(()), torch.ones(())
    stats = {name: torch.as_tensor(value, dtype=torch.float32) for name, value in step.stats[key].items()}
    if mode == "MEAN_STD":
        return stats["mean"], stats["std"] + eps
    if mode == "MIN_MAX":
        half = (stats["max"] - stats["min"]) / 2
        return stats["min"], torch.where(half == 0, torch.full_like(half, 5e-9), half)
    raise CheckpointError(f"{key} is normalised by {mode}, which cannot be exported; use MEAN_STD or MIN_MAX")
