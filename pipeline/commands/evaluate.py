"""`demoloom evaluate`: scores of a policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from ...generators.fleet import FleetConfig
from ...generators.learned.bundled import world_folder
from ...policies.evaluation import policy_ref
from ...storage.plugins import PluginRef
from ...teleop.task import load_task
from ..choices import Given, choose_preset
from ..presets import DEFAULT_PRESET, RUNS
from ..report.scores import scores_text
from ..stages.evaluate import Contestant, EvaluateConfig, evaluate
from ..stages.generate import make_expert, world_ref
from .standalone import stage_work


@dataclass(frozen=True)
class Options:
    """Score a policy from one list of initial states in reality and, if one is given, in a world model."""

    policy: Path = Path("policy")
    """LeRobot `pretrained_model` folder."""
    world: Path | None = None
    """Folder of a world checkpoint or name of a bundled one; needed for scores in the world model and of the expert."""
    out: Path = Path("evaluation")
    """Folder of the scores and episodes; must not exist."""
    preset: str = DEFAULT_PRESET
    """What the other options start from."""
    task: str = "pusht"
    """Name of a task plug-in."""
    seed: int = 0
    """The same seed starts from the same states."""
    config: Annotated[EvaluateConfig, tyro.conf.arg(name="")] = field(default_factory=EvaluateConfig)
    fleet: FleetConfig = field(default_factory=FleetConfig)


def default_options(given: Given) -> Options:
    """The options of a preset."""
    name = given.preset or DEFAULT_PRESET
    chosen = choose_preset(RUNS, name)
    return Options(preset=name, config=chosen.evaluate, fleet=chosen.fleet)


def main(options: Options) -> None:
    """Score and print the table."""
    from ...generators.fleet import ray_session

    world = world_folder(options.world) if options.world else None
    with stage_work("evaluate", options, options.out) as (work, progress), ray_session(options.fleet):
        table = evaluate(
            options.config,
            contestants(options, world),
            load_task(options.task).reality,
            world_ref(world) if world else None,
            options.seed,
            options.out.resolve(),
            work,
            options.fleet,
            progress,
        )
    print(scores_text(table["scores"]))


def contestants(options: Options, world: Path | None) -> list[Contestant]:
    """The policy, a random stream beside it and, given a world with a probe, the expert."""
    policy = policy_ref(options.policy.resolve())
    found = [Contestant("policy", "reality", policy), Contestant("random", "reality", PluginRef("streams", "random"))]
    if world and options.config.in_world:
        found.insert(1, Contestant("policy", "world", policy))
    if world and options.config.expert and (world / "probe").is_dir():
        found.append(Contestant("expert", "reality", make_expert(options.task, world)))
    return found
