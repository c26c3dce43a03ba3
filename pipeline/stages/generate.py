"""Stage `generate`: a stream drives a world until there are as many demonstrations as asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, Literal

from ...generators.fleet import FleetConfig, StopRules
from ...generators.fleet.coverage import CoverageRule
from ...generators.plan import RolloutPlan
from ...storage.curation import draft_of, judge, parse_keep, refuse_none_kept
from ...storage.dataset import EpisodeReader
from ...storage.drafts import Draft, copy_of
from ...storage.episode import EpisodeSummary
from ...storage.errors import CheckpointError
from ...storage.plugins import PluginRef
from ...storage.progress import Progress
from ...storage.quality import score_dataset, write_quality
from ...teleop.task import load_task
from ..checks import require_at_least, require_between

Format = Literal["lerobot", "zarr"]


@dataclass(frozen=True)
class GenerateConfig:
    """How many demonstrations are made, and which attempts count as one.

    Args:
        num_demonstrations: stop once there are so many, if `coverage` is reached by then.
        max_attempts: stop after so many attempts, with a smaller dataset.
        max_hours: stop after so long, with a smaller dataset; the time of earlier tries of the same run counts.
        min_demonstrations: a dataset smaller than this is an error, as soon as it is clear that there will be no
            larger one; None: half of `num_demonstrations`.
        coverage: which starts must have demonstrations before it stops; without `cells` any will do.
        max_steps: an episode not solved by then is a failure.
        success_hold: solved means successful for so many steps in a row.
        success_score: a step is successful from this score on; None: when the world says so.
        min_trust: an episode whose trust falls below this is kept apart as untrusted.
        num_slots: episodes stepped together by one worker.
        keep: which of the demonstrations made are kept, as a condition on their quality scores (see
            `demoloom curate`); the others are rejected with the reason, and are not made up for. Empty keeps all.
    """

    num_demonstrations: int = 200
    max_attempts: int = 800
    max_hours: float | None = None
    min_demonstrations: int | None = None
    coverage: CoverageRule = field(default_factory=CoverageRule)
    max_steps: int = 300
    success_hold: int = 2
    success_score: float | None = None
    min_trust: float = 0.2
    num_slots: int = 16
    keep: str = ""

    def __post_init__(self) -> None:
        require_at_least(1, num_demonstrations=self.num_demonstrations, num_slots=self.num_slots)
        require_at_least(1, success_hold=self.success_hold)
        require_at_least(self.success_hold, max_steps=self.max_steps)
        require_at_least(self.num_demonstrations, max_attempts=self.max_attempts)
        require_between(0, 1, min_trust=self.min_trust)
        self.stop_rules()  # which refuses what cannot be
        if self.success_score is not None:
            require_between(0, 1, success_score=self.success_score)
        if self.keep:
            parse_keep(self.keep)

    def identity(self) -> dict[str, Any]:
        """All that decides what is made; without what is younger than some runs, where it changes nothing."""
        younger = ("keep", "max_hours", "min_demonstrations", "coverage")
        settings = {**asdict(self), "coverage": asdict(self.coverage) if self.coverage.cells else None}
        return {name: value for name, value in settings.items() if name not in younger or value}

    def attempt(self) -> dict[str, Any]:
        """What decides how one attempt is made and judged, whatever ends the run and whichever are kept."""
        names = ("max_steps", "success_hold", "success_score", "min_trust", "num_slots")
        return {name: getattr(self, name) for name in names}

    def stop_rules(self) -> StopRules:
        """When attempts are enough."""
        return StopRules(
            num_demonstrations=self.num_demonstrations,
            max_attempts=self.max_attempts,
            min_demonstrations=self.min_demonstrations,
            max_seconds=inf if self.max_hours is None else 3600 * self.max_hours,
            coverage=self.coverage,
        )


@dataclass(frozen=True)
class Destination:
    """Where demonstrations go, where the other attempts go, and in which format the demonstrations are written."""

    demonstrations: Path
    rejected: Path
    format: Format = "lerobot"


def world_ref(checkpoint: Path) -> PluginRef:
    """The learned world of a checkpoint folder."""
    return PluginRef("worlds", "learned", {"checkpoint": str(checkpoint)})


def generate(
    config: GenerateConfig,
    world: PluginRef,
    stream: PluginRef,
    seed: int,
    destination: Destination,
    work: Path,
    fleet: FleetConfig,
    progress: Progress,
    stage: str = "generate",
    starts: PluginRef | None = None,
    more: Sequence[tuple[PluginRef, PluginRef]] = (),
) -> dict[str, Any]:
    """Let `stream` drive `world`, learned or reality, and keep demonstrations apart from all other attempts.

    Args:
        config: how many, and which count.
        world: what is driven.
        stream: what drives it.
        seed: run seed; attempt i is seeded by it and i alone.
        destination: folders to write; they must not exist.
        work: keeps the episodes that a later call with the same arguments goes on from.
        fleet: the workers that host the world.
        progress: told how far it is.
        stage: for the episodes' lineage.
        starts: draws where attempts start from; None: the world does.
        more: worlds, each with its stream, which take turns with the first.

    Returns:
        The outcome table: attempts, demonstrations, how often each reason occurred, why there are no more, and as
        tables which starts are covered and what was lost and made again.

    Raises:
        FleetError: there are fewer demonstrations than `min_demonstrations`, or workers failed too often.
        StoreError: no demonstration meets `config.keep`, or the disk is full.
    """
    from ...generators.fleet import lost_and_redone, run_until
    from ...storage.dataset import open_dataset
    from ...storage.drafts import write_drafts

    plan = RolloutPlan(
        stage=stage,
        world=world,
        stream=stream,
        run_seed=seed,
        start_world=starts,
        **config.attempt(),
    )
    staging = work / "episodes"
    turns = [plan, *(replace(plan, world=other, stream=its_own) for other, its_own in more)]
    made = run_until(turns, config.stop_rules(), staging, config=fleet, progress=progress)
    store = open_dataset(staging)
    drafts, attempts = sort_out(store, made.summaries, config.keep)
    others = [drafts[attempt.id] for attempt in attempts if not attempt.is_demonstration and attempt.id in drafts]
    demonstrations = [drafts[attempt.id] for attempt in attempts if attempt.is_demonstration]
    write_drafts(destination.rejected, "zarr", store.spec, others)
    write_drafts(destination.demonstrations, destination.format, store.spec, demonstrations)
    write_quality(destination.demonstrations, score_dataset(open_dataset(destination.demonstrations)))
    return {
        **outcome_table(attempts),
        "ended": made.sentence(),
        "coverage": made.coverage.table(),
        "lost": lost_and_redone(staging),
    }


def sort_out(
    store: EpisodeReader, attempts: Sequence[EpisodeSummary], keep: str
) -> tuple[dict[str, Draft], list[EpisodeSummary]]:
    """What is to be written of each attempt that left rows, and the attempts as curation left them.

    Demonstrations are judged by their scores among themselves.

    Raises:
        StoreError: no demonstration meets `keep`.
    """
    stored = set(store.ids())
    drafts = {attempt.id: copy_of(store, attempt.id) for attempt in attempts if attempt.id in stored}
    if not keep:
        return drafts, list(attempts)
    condition, made = parse_keep(keep), {attempt.id for attempt in attempts if attempt.is_demonstration}
    verdicts = judge(store, condition, score_dataset(store, ids=made))
    refuse_none_kept(verdicts, condition)
    # Without the values, so that the outcome table counts all that fail the same clauses together.
    reasons = {verdict.id: f"curation: {' and '.join(verdict.failing)}" for verdict in verdicts if not verdict.is_kept}
    judged = [
        replace(attempt, outcome="rejected", reason=reasons[attempt.id]) if attempt.id in reasons else attempt
        for attempt in attempts
    ]
    return drafts | {verdict.id: draft_of(store, verdict, condition) for verdict in verdicts}, judged


def outcome_table(attempts: Sequence[EpisodeSummary]) -> dict[str, Any]:
    """How many attempts ended how, and why."""
    lengths = [attempt.length for attempt in attempts if attempt.outcome == "success"]
    return {
        "num_attempts": len(attempts),
        "num_demonstrations": len(lengths),
        "num_steps": sum(lengths),
        "outcomes": dict(Counter(attempt.outcome for attempt in attempts)),
        "reasons": dict(Counter(attempt.reason for attempt in attempts if attempt.reason).most_common()),
    }


def make_expert(task: str, world: Path) -> PluginRef:
    """The task's scripted expert, reading poses with the probe that lies in a world's checkpoint folder.

    Raises:
        CheckpointError: there is no world, it has no probe, or it is one that judges no success.
    """
    if (world / ".hydra").is_dir():
        raise CheckpointError(
            f"{world} looks like a checkpoint of the Interactive World Simulator, which judges no success, so that "
            "nothing made in it is a demonstration; record in it with `demoloom collect` and a task whose reality it is"
        )
    if not (world / "config.json").is_file():
        raise CheckpointError(f"no world at {world}; train one with `demoloom train-world`")
    probe = world / "probe"
    if not probe.is_dir():
        raise CheckpointError(
            f"the world at {world} has no probe, through which the scripted expert sees; train it on interaction data "
            "that has labels"
        )
    expert: PluginRef = load_task(task).expert(str(probe))
    return expert
