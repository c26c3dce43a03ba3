"""Stage `collect`: interaction data, recorded in reality by a mix of streams, or linked where it already lies."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...generators.fleet import FleetConfig
from ...generators.plan import RolloutPlan
from ...storage.progress import Progress
from ...storage.quality.table import quality_file
from ...teleop.task import load_task
from ..checks import require_at_least


@dataclass(frozen=True)
class CollectConfig:
    """How much interaction data is recorded.

    Args:
        num_episodes: episodes of play.
        max_steps: length of each; none ends early, so that there is data of what follows a success.
        num_slots: episodes stepped together by one worker.
    """

    num_episodes: int = 240
    max_steps: int = 150
    num_slots: int = 16

    def __post_init__(self) -> None:
        require_at_least(1, num_episodes=self.num_episodes, max_steps=self.max_steps, num_slots=self.num_slots)


def collect(
    config: CollectConfig, task: str, seed: int, out: Path, work: Path, fleet: FleetConfig, progress: Progress
) -> dict[str, Any]:
    """Record play in reality and write it to `out` as a LeRobot dataset.

    Args:
        config: how much.
        task: name of a task plug-in, whose play drives reality.
        seed: run seed of the recorded episodes.
        out: folder of the dataset; must not exist.
        work: keeps what a later call with the same arguments goes on from.
        fleet: the workers that step reality.
        progress: told how far it is.

    Returns:
        The number of episodes and steps, the names of the labels, and a table of what was lost and made again.
    """
    from ...generators.fleet import lost_and_redone, run_episodes
    from ...storage.convert import convert
    from ...storage.dataset import open_dataset

    chosen = load_task(task)
    plan = RolloutPlan(
        stage="collect",
        world=chosen.reality,
        stream=chosen.play(None),
        run_seed=seed,
        max_steps=config.max_steps,
        num_slots=config.num_slots,
        stop_on_success=False,
    )
    run_episodes(plan, range(config.num_episodes), work / "episodes", config=fleet, progress=progress)
    convert(open_dataset(work / "episodes"), out, "lerobot")
    return interaction_metrics(out) | {"lost": lost_and_redone(work / "episodes")}


def link_interaction(given: Path, out: Path) -> dict[str, Any]:
    """Use a dataset that is there already: check that it opens, and let `out` be a link to it.

    Raises:
        StoreError: there is no dataset, or it cannot be read.
    """
    metrics = interaction_metrics(given)
    out.symlink_to(given.resolve(), target_is_directory=True)
    return metrics


def interaction_metrics(path: Path) -> dict[str, Any]:
    """The number of episodes and steps of a dataset, and which labels it has."""
    from ...storage.dataset import open_dataset

    dataset = open_dataset(path)
    steps = sum(summary.length for summary in dataset.summaries())
    return {"num_episodes": len(dataset), "num_steps": steps, "labels": sorted(dataset.spec.labels)}


def fingerprint(path: Path) -> str:
    """Tell whether a dataset has changed without reading it: sha256 of its files' names, sizes and times.

    Scores that are kept with it do not count: to score a dataset is no reason to train on it again.
    """
    files = sorted(file for file in path.rglob("*") if file.is_file() and file != quality_file(path))
    lines = [f"{file.relative_to(path)} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
