"""The config of a whole run: what `demoloom run` takes, what the Prefect flow takes, what lineage keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..generators.fleet import FleetConfig
from ..generators.learned.training_config import WorldTrainingConfig
from ..policies.training import PolicyTrainingConfig
from ..storage.atomic import write_json
from ..storage.errors import ConfigError
from .plain import to_plain
from .run_folder import RunFolder
from .stages.collect import CollectConfig
from .stages.evaluate import EvaluateConfig
from .stages.generate import Format, GenerateConfig

CONFIG_FILE = "config.json"


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides what a run makes.

    Args:
        task: name of a task plug-in.
        seed: each stage's seeds follow from it.
        interaction: a LeRobot v3 dataset or Zarr store to train the world on, instead of collecting one.
        pretrained_world: a world checkpoint to use instead of training one, or the name of a bundled one.
        format: what generated demonstrations are written as.
        mirror: train policies on demonstrations seen in the task's mirror as well, where it has one.
        baseline: also train the same policy on as many real demonstrations, to compare with.
        collect: interaction data, where none is given.
        world: the world model and its probe.
        generate: the demonstrations.
        policy: the policy.
        evaluate: its scores.
        fleet: the workers; they change how fast a run is, not what it makes.
    """

    task: str = "pusht"
    seed: int = 0
    interaction: Path | None = None
    pretrained_world: Path | None = None
    format: Format = "lerobot"
    mirror: bool = True
    baseline: bool = False
    collect: CollectConfig = field(default_factory=CollectConfig)
    world: WorldTrainingConfig = field(default_factory=WorldTrainingConfig)
    generate: GenerateConfig = field(default_factory=GenerateConfig)
    policy: PolicyTrainingConfig = field(default_factory=PolicyTrainingConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)
    fleet: FleetConfig = field(default_factory=FleetConfig)

    def __post_init__(self) -> None:
        if self.interaction is not None and self.pretrained_world is not None:
            raise ConfigError(
                f"a world is trained on {self.interaction} or taken from {self.pretrained_world}; give one of the two"
            )
        if self.seed < 0:
            raise ConfigError(f"seed must not be negative, got {self.seed}")


def save_config(folder: RunFolder, config: RunConfig) -> None:
    """Keep a run's config in its folder, for the next call without settings."""
    write_json(folder.path / CONFIG_FILE, to_plain(config))


def load_config(folder: RunFolder) -> RunConfig | None:
    """The config a run folder was last used with, or None where there is none.

    Raises:
        ConfigError: it is of another version of demoloom; the message names the settings that do not fit.
    """
    path = folder.path / CONFIG_FILE
    if not path.exists():
        return None
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(RunConfig).validate_json(path.read_text())
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise ConfigError(f"{path} cannot be used ({faults}); name a --preset, and what changed runs again") from error
