"""How a world is trained; apart from `training`, so that a command can show its options without importing torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

from ...storage.errors import ConfigError
from ..probe_config import ProbeTrainingConfig
from .config import Device, WorldConfig

#: Where losses and measurements go besides `metrics.jsonl`.
Tracking = Literal["none", "tensorboard", "wandb"]
_COUNTS = ("autoencoder_steps", "decoder_steps", "head_steps", "inverse_steps", "num_starts", "num_processes")


@dataclass(frozen=True)
class DynamicsTrainingConfig:
    """How the dynamics is trained.

    Args:
        num_steps: gradient steps.
        batch_size: single transitions in a step, seen in windows.
        crop: side of these windows in latent cells.
        num_rollouts: rollouts that go on beside them, in whole frames.
        rollouts_from: share of the steps after which the rollouts begin.
        rollout_length: their mean number of steps at the end; it grows from a fifth of this.
        history_noise: largest standard deviation of the noise on a real history.
        lr: highest learning rate.
    """

    num_steps: int = 12000
    batch_size: int = 32
    crop: int = 8
    num_rollouts: int = 8
    rollouts_from: float = 0.4
    rollout_length: float = 24.0
    history_noise: float = 0.05
    lr: float = 3e-3

    def __post_init__(self) -> None:
        for name in ("num_steps", "batch_size", "num_rollouts"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} of the dynamics must be at least 1, got {getattr(self, name)}")
        if self.crop < 4 or self.crop % 2:
            raise ConfigError(f"crop must be an even number of at least 4 cells, got {self.crop}")
        if not 0 <= self.rollouts_from <= 1:
            raise ConfigError(f"rollouts_from must be in [0, 1], got {self.rollouts_from}")
        if self.rollout_length < 1:
            raise ConfigError(f"rollout_length must be at least 1, got {self.rollout_length}")


@dataclass(frozen=True)
class VectorTrainingConfig:
    """How the dynamics of state and labels is trained, and what says which labels occur.

    Args:
        num_steps: gradient steps of the dynamics.
        batch_size: transitions in a step, for each of its networks.
        rollouts_from: share of the steps after which the networks go on from their own predictions.
        rollout_length: steps they go on for; each costs as much as a single one.
        plausibility_steps: gradient steps of each of the networks that say which labels occur; unused where there are
            none.
        lr: highest learning rate.
    """

    num_steps: int = 12000
    batch_size: int = 256
    rollouts_from: float = 0.5
    rollout_length: int = 8
    plausibility_steps: int = 4000
    lr: float = 2e-3

    def __post_init__(self) -> None:
        for name in ("num_steps", "batch_size", "rollout_length", "plausibility_steps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} of state and labels must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.rollouts_from <= 1:
            raise ConfigError(f"rollouts_from of state and labels must be in [0, 1], got {self.rollouts_from}")


@dataclass(frozen=True)
class WorldTrainingConfig:
    """How a world is trained.

    Args:
        model: its architecture.
        dynamics: how its dynamics of latents is trained.
        vectors: how its dynamics of state and labels is trained.
        probe: how the probe beside it is trained; unused where the data has no labels.
        autoencoder_steps, decoder_steps, head_steps: gradient steps of the autoencoder, of the decoder's touch-up
            and of the score head.
        inverse_steps: of what reads actions back, where the model has it.
        autoencoder_batch: windows of frames in a step of the autoencoder.
        head_batch: latents in a step of what reads or decodes them.
        crop: side of the autoencoder's windows in latent cells.
        lr: highest learning rate of these stages.
        num_starts: most real frames kept to start from.
        held_out: share of the episodes kept for measuring.
        seed: of the weights and of the order of the data.
        device: where the networks of frames are trained.
        num_processes: processes that train together, each on batches of its own of the sizes above; each needs the
            memory of one and, to be of use, two cores.
        log_to: what shows losses and measurements while training, besides `metrics.jsonl`.
        check_every: steps of either dynamics between two open loops on held-out episodes, 0 for none.
        save_every_s: seconds between two moments from which a killed training goes on.
    """

    model: WorldConfig = field(default_factory=WorldConfig)
    dynamics: DynamicsTrainingConfig = field(default_factory=DynamicsTrainingConfig)
    vectors: VectorTrainingConfig = field(default_factory=VectorTrainingConfig)
    probe: ProbeTrainingConfig = field(default_factory=ProbeTrainingConfig)
    autoencoder_steps: int = 6000
    decoder_steps: int = 1000
    head_steps: int = 4000
    inverse_steps: int = 3000
    autoencoder_batch: int = 48
    head_batch: int = 32
    crop: int = 8
    lr: float = 2e-3
    num_starts: int = 800
    held_out: float = 0.1
    seed: int = 0
    device: Device = "cpu"
    num_processes: int = 1
    log_to: Tracking = "tensorboard"
    check_every: int = 1000
    save_every_s: float = 60.0

    def __post_init__(self) -> None:
        for name in _COUNTS:
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("autoencoder_batch", "head_batch"):
            if getattr(self, name) < 4:
                raise ConfigError(f"{name} must be at least 4, got {getattr(self, name)}")
        if self.crop < 4 or self.crop % 2:
            raise ConfigError(f"crop must be an even number of at least 4 cells, got {self.crop}")
        if not 0 < self.held_out <= 0.5:
            raise ConfigError(f"held_out must be above 0 and at most 0.5, got {self.held_out}")
        for name in ("seed", "check_every", "save_every_s"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")
        for name, kind in (("log_to", Tracking), ("device", Device)):
            if getattr(self, name) not in get_args(kind):
                raise ConfigError(f"{name} must be one of {', '.join(get_args(kind))}, got {getattr(self, name)}")
        if self.num_processes > 1 and self.device != "cpu":
            raise ConfigError(f"several processes train on the CPU only, got device {self.device}; set it to cpu")

    def identity(self) -> dict[str, Any]:
        """All that the weights follow from: not how a training is watched and saved."""
        watched = ("log_to", "check_every", "save_every_s")
        return {name: value for name, value in asdict(self).items() if name not in watched}
