"""`demoloom generate`: demonstrations made inside a world model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import tyro

from ...generators.fleet import FleetConfig
from ...generators.learned.bundled import world_folder
from ..choices import Given, choose_preset
from ..console import say
from ..presets import DEFAULT_PRESET, RUNS
from ..stages.generate import Destination, Format, GenerateConfig, generate, make_expert, world_ref
from .standalone import stage_work


@dataclass(frozen=True)
class Options:
    """Let the scripted expert drive a world model until there are as many demonstrations as asked for."""

    world: Path = Path("pusht")
    """Folder of a world checkpoint, or the name of a world that comes with demoloom."""
    others: tuple[Path, ...] = ()
    """More worlds, which take turns with the first; one named twice makes twice as many attempts."""
    out: Path = Path("generated")
    """Folder of the demonstrations; must not exist."""
    rejected: Path | None = None
    """Folder of all other attempts, with the reasons; `rejected` beside the demonstrations by default."""
    format: Format = "lerobot"
    """What the demonstrations are written as."""
    preset: str = DEFAULT_PRESET
    """What the other options start from."""
    task: str = "pusht"
    """Name of a task plug-in."""
    seed: int = 0
    """The same seed makes the same episodes, whatever the number of workers."""
    config: Annotated[GenerateConfig, tyro.conf.arg(name="")] = field(default_factory=GenerateConfig)
    fleet: FleetConfig = field(default_factory=FleetConfig)


def default_options(given: Given) -> Options:
    """The options of a preset."""
    name = given.preset or DEFAULT_PRESET
    chosen = choose_preset(RUNS, name)
    return Options(preset=name, config=chosen.generate, fleet=chosen.fleet)


def main(options: Options) -> None:
    """Generate, then print the outcome table."""
    from ...generators.fleet import ray_session

    rejected = options.rejected or options.out.with_name("rejected")
    destination = Destination(options.out.resolve(), rejected.resolve(), options.format)
    world, *others = (world_folder(given) for given in (options.world, *options.others))
    with stage_work("generate", _work(options), options.out, rejected) as (work, progress), ray_session(options.fleet):
        table = generate(
            options.config,
            world_ref(world),
            make_expert(options.task, world),
            options.seed,
            destination,
            work,
            options.fleet,
            progress,
            more=[(world_ref(other), make_expert(options.task, other)) for other in others],
        )
    for reason, count in {"demonstrations": table["num_demonstrations"], **table["reasons"]}.items():
        print(f"{count:>6}  {reason}")
    say(f"generate: {table['ended']}")


def _work(options: Options) -> dict[str, Any]:
    """What decides which attempts a later try can go on from: neither when it stops nor how many workers it has."""
    others = {"others": options.others} if options.others else {}
    made_of = {"world": options.world, "task": options.task, "seed": options.seed, "attempt": options.config.attempt()}
    return made_of | others
