"""Settings of the latent policy, as LeRobot keeps them in a policy folder's config.json."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lerobot.configs import NormalizationMode, PreTrainedConfig
from lerobot.optim import AdamWConfig


def _normalization() -> dict[str, NormalizationMode]:
    # Images go into frozen networks, which want them as they are.
    return {
        "VISUAL": NormalizationMode.IDENTITY,
        "STATE": NormalizationMode.MEAN_STD,
        "ACTION": NormalizationMode.MEAN_STD,
    }


@PreTrainedConfig.register_subclass("latent")
@dataclass
class LatentConfig(PreTrainedConfig):
    """A flow-matching policy over chunks of actions that sees through a world model's frozen networks.

    Args:
        n_obs_steps: observations it looks at, the current one last.
        chunk_size: actions predicted at a time.
        n_action_steps: how many of them are executed before it looks again.
        eyes: which of a world's networks it sees through, `probe` or `latents`.
        eyes_settings: the size of that network, whose weights are part of the policy.
        poses: where in the probe's readings planar poses start that the state is to be seen from.
        relative_to: for each action dimension the state dimension it is predicted relative to, -1 for none.
        action_feature_names: names of the action's dimensions, in order; LeRobot fills it.
        width: channels of the convolutions over latents.
        embedding: size of the vector that an observation becomes.
        num_blocks: residual blocks of the flow head.
        dropout: rate inside the flow head.
        observation_noise: standard deviation of the noise put on what the eyes see, in training.
        flow_samples: times and noises drawn for each observation in training; more pay where observing is dear.
        num_inference_steps: Euler steps from noise to actions.
    """

    n_obs_steps: int = 2
    chunk_size: int = 8
    n_action_steps: int = 4

    normalization_mapping: dict[str, NormalizationMode] = field(default_factory=_normalization)

    eyes: str = "latents"
    eyes_settings: dict[str, Any] = field(default_factory=dict)
    poses: list[int] = field(default_factory=list)
    relative_to: list[int] = field(default_factory=list)
    action_feature_names: list[str] = field(default_factory=list)

    width: int = 64
    embedding: int = 256
    num_blocks: int = 2
    dropout: float = 0.0
    observation_noise: float = 0.02
    flow_samples: int = 1
    num_inference_steps: int = 6

    optimizer_lr: float = 2e-3
    optimizer_weight_decay: float = 1e-2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.n_action_steps <= self.chunk_size:
            raise ValueError(
                f"n_action_steps must lie between 1 and chunk_size ({self.chunk_size}), got {self.n_action_steps}"
            )
        for name in ("n_obs_steps", "num_inference_steps", "flow_samples", "num_blocks"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")

    def get_optimizer_preset(self) -> AdamWConfig:
        """AdamW."""
        return AdamWConfig(lr=self.optimizer_lr, weight_decay=self.optimizer_weight_decay)

    def get_scheduler_preset(self) -> None:
        """None: whoever trains chooses the schedule."""
        return None

    def validate_features(self) -> None:
        """Raise ValueError unless there are a camera, a state and an action."""
        if not self.image_features or self.robot_state_feature is None or self.action_feature is None:
            found = [*(self.input_features or {}), *(self.output_features or {})]
            raise ValueError(f"a latent policy needs cameras, observation.state and action, got {found}")

    @property
    def observation_delta_indices(self) -> list[int]:
        """Steps of the observations, relative to now."""
        return list(range(1 - self.n_obs_steps, 1))

    @property
    def action_delta_indices(self) -> list[int]:
        """Steps of the predicted actions, relative to now."""
        return list(range(self.chunk_size))

    @property
    def reward_delta_indices(self) -> None:
        """No rewards are read."""
        return None
