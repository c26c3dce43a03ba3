"""The config of a whole run: what `demoloom run` takes, what the Prefect flow takes, what lineage keeps."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..generators.fleet import FleetConfig
from ..generators.learned.training_config import WorldTrainingConfig
from ..policies.training import PolicyTrainingConfig
from ..storage.errors import ConfigError
from .stages.collect import CollectConfig
from .stages.evaluate import EvaluateConfig
from .stages.generate import Format, GenerateConfig


@dataclass(frozen=True)
class RunConfig:
    """Everything that decides what a run makes.

    Args:
        task: name of a task plug-in.
        seed: each stage's seeds follow from it.
        interaction: a LeRobot v3 dataset or Zarr store to train the world on, instead of collecting one.
        format: what generated demonstrations are written as.
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
    format: Format = "lerobot"
    baseline: bool = False
    collect: CollectConfig = field(default_factory=CollectConfig)
    world: WorldTrainingConfig = field(default_factory=WorldTrainingConfig)
    generate: GenerateConfig = field(default_factory=GenerateConfig)
    policy: PolicyTrainingConfig = field(default_factory=PolicyTrainingConfig)
    evaluate: EvaluateConfig = field(default_factory=EvaluateConfig)
    fleet: FleetConfig = field(default_factory=FleetConfig)

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ConfigError(f"seed must not be negative, got {self.seed}")
