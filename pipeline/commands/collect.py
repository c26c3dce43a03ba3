"""`demoloom collect`: interaction data from reality."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from ...generators.fleet import FleetConfig
from ..choices import Given, choose_preset
from ..presets import DEFAULT_PRESET, RUNS
from ..stages.collect import CollectConfig, collect
from .standalone import stage_work


@dataclass(frozen=True)
class Options:
    """Record interaction data in reality, driven by the task's mix of play."""

    preset: str = DEFAULT_PRESET
    """What the other options start from."""
    out: Path = Path("interaction")
    """Folder of the LeRobot dataset; must not exist."""
    task: str = "pusht"
    """Name of a task plug-in."""
    seed: int = 0
    """The same seed records the same episodes."""
    config: Annotated[CollectConfig, tyro.conf.arg(name="")] = field(default_factory=CollectConfig)
    fleet: FleetConfig = field(default_factory=FleetConfig)


def default_options(given: Given) -> Options:
    """The options of a preset."""
    name = given.preset or DEFAULT_PRESET
    chosen = choose_preset(RUNS, name)
    return Options(preset=name, config=chosen.collect, fleet=chosen.fleet)


def main(options: Options) -> None:
    """Record and write."""
    from ...generators.fleet import ray_session

    with stage_work("collect", options, options.out) as (work, progress), ray_session(options.fleet):
        collect(options.config, options.task, options.seed, options.out.resolve(), work, options.fleet, progress)
