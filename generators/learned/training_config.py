"""How a world is trained; apart from `training`, so that a command can show its options without importing torch."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...storage.errors import ConfigError
from ..probe_config import ProbeTrainingConfig
from .config import WorldConfig


@dataclass(frozen=True)
class WorldTrainingConfig:
    """How a world is trained.

    Args:
        model: its architecture.
        probe: how the probe beside it is trained; unused where the data has no labels.
        autoencoder_steps, dynamics_steps, decoder_steps, head_steps: gradient steps of each stage.
        autoencoder_batch: frames in a step of the autoencoder.
        dynamics_batch: transitions in a step of the dynamics, and latents in one of the head.
        rollout_share: share of the dynamics' batch that goes on from its own predictions.
        rollout_length: mean number of steps of these rollouts.
        lr: highest learning rate of every stage.
        num_starts: most real frames kept to start from.
        held_out: share of the episodes kept for measuring.
        seed: of the weights and of the order of the data.
    """

    model: WorldConfig = field(default_factory=WorldConfig)
    probe: ProbeTrainingConfig = field(default_factory=ProbeTrainingConfig)
    autoencoder_steps: int = 6000
    dynamics_steps: int = 12000
    decoder_steps: int = 1000
    head_steps: int = 4000
    autoencoder_batch: int = 16
    dynamics_batch: int = 32
    rollout_share: float = 0.5
    rollout_length: float = 32.0
    lr: float = 1.0e-3
    num_starts: int = 500
    held_out: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("autoencoder_steps", "dynamics_steps", "decoder_steps", "head_steps", "num_starts"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("autoencoder_batch", "dynamics_batch"):
            if getattr(self, name) < 4:
                raise ConfigError(f"{name} must be at least 4, got {getattr(self, name)}")
        if not 0 <= self.rollout_share < 1:
            raise ConfigError(f"rollout_share must be in [0, 1), got {self.rollout_share}")
        if not 0 < self.held_out <= 0.5:
            raise ConfigError(f"held_out must be above 0 and at most 0.5, got {self.held_out}")
        if self.rollout_length < 1:
            raise ConfigError(f"rollout_length must be at least 1, got {self.rollout_length}")
