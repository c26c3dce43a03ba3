"""`demoloom train-policy`: a policy from demonstrations."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from ...generators.learned.bundled import world_folder
from ...policies.training import PolicyTrainingConfig, train_policy
from ..choices import Given, choose_preset
from ..presets import DEFAULT_PRESET, RUNS, fit_to_kind
from .standalone import stage_work


@dataclass(frozen=True)
class Options:
    """Train a policy on a dataset that holds demonstrations only."""

    demonstrations: Path = Path("generated")
    """A LeRobot v3 dataset or a Zarr store."""
    out: Path = Path("policy")
    """LeRobot `pretrained_model` folder; must not exist."""
    world: Path | None = None
    """Folder of a world checkpoint or name of a bundled one, through whose encoder a `latent` policy sees."""
    preset: str = DEFAULT_PRESET
    """What the other options start from."""
    config: Annotated[PolicyTrainingConfig, tyro.conf.arg(name="")] = field(default_factory=PolicyTrainingConfig)


def default_options(given: Given) -> Options:
    """The options of a preset."""
    name = given.preset or DEFAULT_PRESET
    return Options(preset=name, config=choose_preset(RUNS, name).policy)


def main(options: Options) -> None:
    """Train and write the policy."""
    with stage_work("train-policy", options, options.out) as (_, progress):
        config = fit_to_kind(options.config, choose_preset(RUNS, options.preset).policy)
        world = world_folder(options.world) if options.world else None
        train_policy(options.demonstrations, options.out.resolve(), config, world, progress)
