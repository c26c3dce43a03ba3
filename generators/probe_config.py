"""How a probe is trained; apart from `probe`, so that a command can show its options without importing torch."""

from __future__ import annotations

from dataclasses import dataclass

from ..storage.errors import ConfigError


@dataclass(frozen=True)
class ProbeTrainingConfig:
    """How a probe is trained.

    Args:
        num_steps: gradient steps.
        batch_size: frames in a step.
        lr: highest learning rate.
        width: channels of the network.
        num_blocks: residual blocks at a quarter of the resolution.
        held_out: share of the episodes kept for measuring the error.
        seed: of the weights and of the order of the frames.
    """

    num_steps: int = 6000
    batch_size: int = 32
    lr: float = 1.5e-3
    width: int = 48
    num_blocks: int = 3
    held_out: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("num_steps", "batch_size", "width", "num_blocks"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} of a probe must be at least 1, got {getattr(self, name)}")
