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
from ..stages.generate import Destination, Format, GenerateConfig, generate, world_ref
from ..stages.streams import EXPERT, make_stream, starts_ref
from .record import parse_settings
from .standalone import stage_work


@dataclass(frozen=True)
class Options:
    """Let a stream drive a world model until there are as many demonstrations as asked for."""

    world: Path = Path("pusht")
    """Folder of a world checkpoint, or the name of a world that comes with demoloom."""
    others: tuple[Path, ...] = ()
    """More worlds, which take turns with the first; one named twice makes twice as many attempts."""
    stream: str = EXPERT
    """Name of a stream plug-in (docs/streams.md); `expert` is the task's scripted one."""
    settings: tuple[str, ...] = ()
    """Of the stream, as name=value; values are JSON, or else text: `dataset=generated tolerance=0.1`."""
    starts: Path | None = None
    """Folder of a dataset at whose episodes' starts attempts start; by default they start where the world says."""
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
    settings = parse_settings(options.settings)
    starts = None if options.starts is None else starts_ref(options.starts)
    world, *others = (world_folder(given) for given in (options.world, *options.others))
    with stage_work("generate", _work(options), options.out, rejected) as (work, progress), ray_session(options.fleet):
        table = generate(
            options.config,
            world_ref(world),
            make_stream(options.stream, settings, options.task, world),
            options.seed,
            destination,
            work,
            options.fleet,
            progress,
            starts=starts,
            more=[(world_ref(other), make_stream(options.stream, settings, options.task, other)) for other in others],
        )
    for reason, count in {"demonstrations": table["num_demonstrations"], **table["reasons"]}.items():
        print(f"{count:>6}  {reason}")
    say(f"generate: {table['ended']}")


def _work(options: Options) -> dict[str, Any]:
    """What decides which attempts a later try can go on from: neither when it stops nor how many workers it has."""
    # What is younger than some work that may be gone on with counts only where it is used.
    younger = {name: value for name in ("others", "settings", "starts") if (value := getattr(options, name))}
    younger |= {"stream": options.stream} if options.stream != EXPERT else {}
    made_of = {"world": options.world, "task": options.task, "seed": options.seed, "attempt": options.config.attempt()}
    return made_of | younger
