"""The stages of a run, wired to each other through the run folder."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..generators.learned.bundled import world_folder
from ..policies.evaluation import policy_ref
from ..policies.training import PolicyTrainingConfig, train_policy
from ..storage.plugins import PluginRef
from ..storage.progress import Progress
from ..teleop.task import load_task
from .line import Performer, run_stages
from .run_config import RunConfig
from .run_folder import RunFolder
from .stage import Stage, stage_seed
from .stages.collect import collect, fingerprint, link_interaction
from .stages.evaluate import Contestant, evaluate
from .stages.generate import Destination, generate, make_expert, world_ref


def run(config: RunConfig, folder: RunFolder, performer: Performer | None = None, quiet: bool = False) -> list[str]:
    """Run all stages that are not done yet and return their names."""
    return run_stages(
        folder, stages_of(config, folder), performer=performer, session=fleet_session(config), quiet=quiet
    )


def fleet_session(config: RunConfig) -> Callable[[], AbstractContextManager[Any]]:
    """Opens Ray once for all stages of a run."""

    def session() -> AbstractContextManager[Any]:
        from ..generators.fleet.session import ray_session

        return ray_session(config.fleet)

    return session


def stages_of(config: RunConfig, folder: RunFolder) -> list[Stage]:
    """The stages of a run, in order."""
    baseline = [_collect_baseline(config, folder), _train_baseline(config, folder)] if config.baseline else []
    return [
        *_world(config, folder),
        _generate(config, folder),
        _train_policy(config, folder),
        *baseline,
        _evaluate(config, folder),
        _export(config, folder),
        _report(config, folder),
    ]


def _world(config: RunConfig, folder: RunFolder) -> list[Stage]:
    """The stages that end with a world: it is trained, or taken as it is."""
    if config.pretrained_world is None:
        return [_interaction(config, folder), _train_world(config, folder)]
    return [_take_world(world_folder(config.pretrained_world), folder)]


def _take_world(given: Path, folder: RunFolder) -> Stage:
    from ..generators.learned.checkpoint import copy_pretrained, hash_checkpoint

    return Stage(
        name="train-world",
        run=lambda work, progress: copy_pretrained(given, folder.path / "world"),
        config={"pretrained": hash_checkpoint(given)},
        outputs=("world",),
    )


def _interaction(config: RunConfig, folder: RunFolder) -> Stage:
    out, given = folder.path / "interaction", config.interaction
    if given is not None:
        return Stage(
            name="collect",
            run=lambda work, progress: link_interaction(given, out),
            config={"interaction": given.resolve(), "fingerprint": fingerprint(given)},
            outputs=("interaction",),
        )
    seed = stage_seed(config.seed, "collect")
    return Stage(
        name="collect",
        run=lambda work, progress: collect(config.collect, config.task, seed, out, work, config.fleet, progress),
        config={"task": config.task, "seed": seed, "collect": config.collect},
        outputs=("interaction",),
        uses_fleet=True,
    )


def _train_world(config: RunConfig, folder: RunFolder) -> Stage:
    def train(work: Path, progress: Progress) -> dict[str, Any]:
        from ..generators.learned.training import train_world

        moments = work / "training"
        return train_world(folder.path / "interaction", folder.path / "world", config.world, progress, moments)

    return Stage(
        name="train-world",
        run=train,
        config=config.world.identity(),
        outputs=("world",),
        needs=("collect",),
        version=2,
    )


def _generate(config: RunConfig, folder: RunFolder) -> Stage:
    world, seed = folder.path / "world", stage_seed(config.seed, "generate")
    destination = Destination(folder.path / "generated", folder.path / "rejected", config.format)
    return Stage(
        name="generate",
        run=lambda work, progress: generate(
            config.generate,
            world_ref(world),
            make_expert(config.task, world),
            seed,
            destination,
            work,
            config.fleet,
            progress,
        ),
        config={"task": config.task, "seed": seed, "format": config.format, "generate": config.generate.identity()},
        outputs=("generated", "rejected"),
        needs=("train-world",),
        uses_fleet=True,
        work_config={"task": config.task, "seed": seed, "attempt": config.generate.attempt()},
    )


def policy_config(config: RunConfig) -> PolicyTrainingConfig:
    """The policy's training as configured, with the symmetry that the task has, unless another was chosen."""
    if not config.mirror or config.policy.mirror != "none":
        return config.policy
    return replace(config.policy, mirror=load_task(config.task).mirror)


def _train_policy(config: RunConfig, folder: RunFolder) -> Stage:
    policy = policy_config(config)
    return Stage(
        name="train-policy",
        run=lambda work, progress: train_policy(
            folder.path / "generated", folder.path / "policy", policy, folder.path / "world", progress
        ),
        config=policy,
        outputs=("policy",),
        needs=("train-world", "generate"),
    )


def _collect_baseline(config: RunConfig, folder: RunFolder) -> Stage:
    baseline, seed = folder.path / "baseline", stage_seed(config.seed, "collect-baseline")
    destination = Destination(baseline / "demonstrations", baseline / "rejected", config.format)
    return Stage(
        name="collect-baseline",
        run=lambda work, progress: generate(
            config.generate,
            load_task(config.task).reality,
            make_expert(config.task, folder.path / "world"),
            seed,
            destination,
            work,
            config.fleet,
            progress,
            stage="collect-baseline",
        ),
        config={"task": config.task, "seed": seed, "format": config.format, "generate": config.generate.identity()},
        outputs=("baseline/demonstrations", "baseline/rejected"),
        # Only for the probe through which the expert sees.
        needs=("train-world",),
        uses_fleet=True,
        work_config={"task": config.task, "seed": seed, "attempt": config.generate.attempt()},
    )


def _train_baseline(config: RunConfig, folder: RunFolder) -> Stage:
    baseline, policy = folder.path / "baseline", policy_config(config)
    return Stage(
        name="train-baseline",
        run=lambda work, progress: train_policy(
            baseline / "demonstrations", baseline / "policy", policy, folder.path / "world", progress
        ),
        config=policy,
        outputs=("baseline/policy",),
        needs=("train-world", "collect-baseline"),
    )


def _evaluate(config: RunConfig, folder: RunFolder) -> Stage:
    seed = stage_seed(config.seed, "evaluate")
    return Stage(
        name="evaluate",
        run=lambda work, progress: evaluate(
            config.evaluate,
            _contestants(config, folder),
            load_task(config.task).reality,
            world_ref(folder.path / "world"),
            seed,
            folder.path / "evaluation",
            work,
            config.fleet,
            progress,
        ),
        config={"task": config.task, "seed": seed, "evaluate": config.evaluate, "baseline": config.baseline},
        outputs=("evaluation",),
        needs=("train-world", "train-policy", *(("train-baseline",) if config.baseline else ())),
        uses_fleet=True,
    )


def _contestants(config: RunConfig, folder: RunFolder) -> list[Contestant]:
    policy = policy_ref(folder.path / "policy")
    found = [Contestant("policy", "reality", policy)]
    if config.evaluate.in_world:
        found.append(Contestant("policy", "world", policy))
    if config.baseline:
        found.append(Contestant("baseline", "reality", policy_ref(folder.path / "baseline" / "policy")))
    found.append(Contestant("random", "reality", PluginRef("streams", "random")))
    if config.evaluate.expert:
        found.append(Contestant("expert", "reality", make_expert(config.task, folder.path / "world")))
    return found


def _export(config: RunConfig, folder: RunFolder) -> Stage:
    def export(work: Path, progress: Progress) -> dict[str, Any]:
        from ..policies.export import export_policy

        return export_policy(folder.path / "policy", folder.path / "export")

    return Stage(
        name="export",
        run=export,
        config={},
        outputs=("export",),
        needs=("train-policy",),
    )


def _report(config: RunConfig, folder: RunFolder) -> Stage:
    def report(work: Path, progress: Progress) -> dict[str, Any]:
        from .report import write_report

        return write_report(folder, folder.path / "report", progress)

    before = ["train-world", "generate", "train-policy", "evaluate", "export"]
    before += [] if config.pretrained_world else ["collect"]
    return Stage(
        name="report",
        run=report,
        config={},
        outputs=("report",),
        needs=tuple(before + (["collect-baseline", "train-baseline"] if config.baseline else [])),
    )
