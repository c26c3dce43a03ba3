"""Rounds after a run: demonstrations from where its policy fails, the policy trained anew on all, and both scored.

A round lies in `rounds/001/` of the run's folder and goes on from the one before it, or from the run itself. Its
evaluation starts from states that no earlier one started from: those of the last evaluation have chosen what the new
policy was trained on, and would flatter it. The policy before is scored from the same new states.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..policies.evaluation import policy_ref
from ..policies.training import train_policy
from ..storage.errors import ConfigError
from ..storage.plugins import PluginRef
from ..storage.progress import Progress
from ..teleop.task import load_task
from .checks import require_at_least
from .line import Performer, run_stages
from .run import fleet_session, policy_config
from .run_config import RunConfig, load_config
from .run_folder import RunFolder
from .stage import Stage, stage_seed
from .stages.evaluate import Contestant, evaluate
from .stages.generate import Destination, GenerateConfig, generate, make_expert, world_ref
from .stages.starts import choose_starts, failures

_WHERE = "evaluation/policy-in-reality"


@dataclass(frozen=True)
class RoundConfig:
    """What one round adds; all else is as in the run.

    Args:
        num_demonstrations: how many more demonstrations are made.
        max_attempts: stop after so many attempts, with fewer demonstrations.
        num_starts: moments of failed episodes to start from, at most.
    """

    num_demonstrations: int = 500
    max_attempts: int = 2500
    num_starts: int = 2000

    def __post_init__(self) -> None:
        require_at_least(1, num_demonstrations=self.num_demonstrations, num_starts=self.num_starts)
        require_at_least(self.num_demonstrations, max_attempts=self.max_attempts)


@dataclass(frozen=True)
class Round:
    """One round, begun or not.

    Args:
        number: from 1 on.
        run: the folder of the run that is improved.
        before: the folder of the round before, or of the run.
        folder: of this round.
    """

    number: int
    run: RunFolder
    before: RunFolder
    folder: RunFolder


def improve(
    config: RoundConfig, run: RunFolder, performer: Performer | None = None, quiet: bool = False
) -> tuple[Round, list[str]]:
    """Make the next round of a finished run, or finish the one that was begun; the round and which stages ran.

    Raises:
        ConfigError: the run is not finished, or its policy did not fail.
        StoreError: another process works in the run's folder.
    """
    of_run = finished_config(run)
    current = current_round(run)
    stages = stages_of_round(config, of_run, current)
    with run.lock():
        ran = run_stages(current.folder, stages, performer=performer, session=fleet_session(of_run), quiet=quiet)
    return current, ran


def finished_config(run: RunFolder) -> RunConfig:
    """The settings of a run that has been finished.

    Raises:
        ConfigError: there is no such run, or it is not finished.
    """
    config = load_config(run)
    if config is None or run.manifest("export") is None or run.manifest("evaluate") is None:
        raise ConfigError(f"there is no finished run in {run.path}; make one with `demoloom run --run-dir {run.path}`")
    return config


def current_round(run: RunFolder) -> Round:
    """The round that was begun and not finished, else the next."""
    finished = 0
    while _folder(run, finished + 1).manifest("evaluate") is not None:
        finished += 1
    before = _folder(run, finished) if finished else run
    return Round(finished + 1, run, before, _folder(run, finished + 1))


def has_failures(place: Round) -> bool:
    """Whether the policy before failed anywhere in its evaluation."""
    from ..storage.dataset import open_dataset

    return bool(failures(open_dataset(place.before.path / _WHERE)))


def _folder(run: RunFolder, number: int) -> RunFolder:
    return RunFolder(run.path / "rounds" / f"{number:03d}")


def stages_of_round(config: RoundConfig, run: RunConfig, place: Round) -> list[Stage]:
    """The stages of a round, in order; the evaluation is last, as it says that the round is finished."""
    return [
        _starts(config, place),
        _generate(config, run, place),
        _merge(run, place),
        _train_policy(run, place),
        _export(place),
        _evaluate(run, place),
    ]


def _made_before(place: Round, stage: str) -> str:
    """The digest of what the round goes on from."""
    manifest = place.before.manifest(stage)
    if manifest is None:
        raise ConfigError(f"stage {stage!r} of {place.before.path} is not finished; finish it with `demoloom run`")
    return str(manifest["digest"])


def _starts(config: RoundConfig, place: Round) -> Stage:
    return Stage(
        name="starts",
        run=lambda work, progress: choose_starts(
            place.before.path / _WHERE, config.num_starts, place.folder.path / "starts"
        ),
        config={"num_starts": config.num_starts, "evaluation": _made_before(place, "evaluate")},
        outputs=("starts",),
    )


def _generate(config: RoundConfig, run: RunConfig, place: Round) -> Stage:
    path, world = place.folder.path, place.run.path / "world"
    seed = stage_seed(run.seed, f"generate-{place.number}")
    settings = _generation(config, run)
    starts = PluginRef(
        "worlds", "demoloom.generators.recorded_starts:RecordedStarts", {"dataset": str(path / "starts")}
    )

    def make(work: Path, progress: Progress) -> dict[str, Any]:
        destination = Destination(path / "more", path / "rejected", run.format)
        expert = make_expert(run.task, world)
        return generate(settings, world_ref(world), expert, seed, destination, work, run.fleet, progress, starts=starts)

    return Stage(
        name="generate",
        run=make,
        config={"task": run.task, "seed": seed, "format": run.format, "generate": settings.identity()},
        outputs=("more", "rejected"),
        needs=("starts",),
        uses_fleet=True,
    )


def _generation(config: RoundConfig, run: RunConfig) -> GenerateConfig:
    """Attempts are made and judged as in the run; when they are enough is for the round to say."""
    return GenerateConfig(
        num_demonstrations=config.num_demonstrations,
        max_attempts=config.max_attempts,
        max_hours=run.generate.max_hours,
        keep=run.generate.keep,
        **run.generate.attempt(),
    )


def _merge(run: RunConfig, place: Round) -> Stage:
    path = place.folder.path

    def merge_all(work: Path, progress: Progress) -> dict[str, Any]:
        from ..storage.editing.merge import merge

        sources = [place.before.path / "generated", path / "more"]
        merged = merge(sources, path / "generated", run.format, progress=progress)
        return {"num_episodes": merged.num_episodes}

    return Stage(
        name="merge",
        run=merge_all,
        config={"before": _made_before(place, "generate" if place.number == 1 else "merge")},
        outputs=("generated",),
        needs=("generate",),
    )


def _train_policy(run: RunConfig, place: Round) -> Stage:
    path, policy = place.folder.path, policy_config(run)
    return Stage(
        name="train-policy",
        run=lambda work, progress: train_policy(
            path / "generated", path / "policy", policy, place.run.path / "world", progress
        ),
        config=policy,
        outputs=("policy",),
        needs=("merge",),
    )


def _export(place: Round) -> Stage:
    def export(work: Path, progress: Progress) -> dict[str, Any]:
        from ..policies.export import export_policy

        return export_policy(place.folder.path / "policy", place.folder.path / "export")

    return Stage(name="export", run=export, config={}, outputs=("export",), needs=("train-policy",))


def _evaluate(run: RunConfig, place: Round) -> Stage:
    seed, before = stage_seed(run.seed, f"evaluate-{place.number}"), _made_before(place, "train-policy")
    contestants = [
        Contestant("policy", "reality", policy_ref(place.folder.path / "policy")),
        Contestant("before", "reality", policy_ref(place.before.path / "policy")),
    ]
    return Stage(
        name="evaluate",
        run=lambda work, progress: evaluate(
            run.evaluate,
            contestants,
            load_task(run.task).reality,
            None,
            seed,
            place.folder.path / "evaluation",
            work,
            run.fleet,
            progress,
        ),
        config={"task": run.task, "seed": seed, "evaluate": run.evaluate, "before": before},
        outputs=("evaluation",),
        needs=("train-policy",),
        uses_fleet=True,
    )
