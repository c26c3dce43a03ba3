"""`demoloom train-world`: a world model and its probe from interaction data."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from ...generators.learned.training_config import WorldTrainingConfig
from ..choices import Given, choose_preset
from ..presets import DEFAULT_PRESET, RUNS
from .standalone import stage_work


@dataclass(frozen=True)
class Options:
    """Train a world model, and a probe where the data has labels, on a dataset of interaction data."""

    interaction: Path = Path("interaction")
    """A LeRobot v3 dataset or a Zarr store, of any robot."""
    out: Path = Path("world")
    """Folder of the checkpoint; must not exist."""
    preset: str = DEFAULT_PRESET
    """What the other options start from."""
    config: Annotated[WorldTrainingConfig, tyro.conf.arg(name="")] = field(default_factory=WorldTrainingConfig)


def default_options(given: Given) -> Options:
    """The options of a preset."""
    name = given.preset or DEFAULT_PRESET
    return Options(preset=name, config=choose_preset(RUNS, name).world)


def main(options: Options) -> None:
    """Train and write the checkpoint."""
    from ...generators.learned.training import train_world

    with stage_work("train-world", options, options.out) as (work, progress):
        train_world(options.interaction, options.out.resolve(), options.config, progress, work / "training")
