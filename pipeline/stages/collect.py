"""Stage `collect`: interaction data, recorded in reality by a mix of streams, or linked where it already lies."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...generators.fleet import FleetConfig
from ...generators.plan import RolloutPlan
from ...generators.probe_config import ProbeTrainingConfig
from ...storage.plugins import PluginRef, load_plugin
from ...storage.progress import Progress
from ..checks import require_at_least


@dataclass(frozen=True)
class CollectConfig:
    """How much interaction data is recorded, and how.

    Args:
        num_episodes: episodes of play in all.
        num_first_episodes: how many of them are played before there is a probe, by streams that need no poses;
            a quick probe trained on these lets the expert join the mix for the rest.
        max_steps: length of each episode.
        num_slots: episodes stepped together by one worker.
        probe: how the quick probe is trained.
    """

    num_episodes: int = 240
    num_first_episodes: int = 80
    max_steps: int = 150
    num_slots: int = 16
    probe: ProbeTrainingConfig = field(default_factory=ProbeTrainingConfig)

    def __post_init__(self) -> None:
        require_at_least(1, num_first_episodes=self.num_first_episodes, max_steps=self.max_steps)
        require_at_least(self.num_first_episodes, num_episodes=self.num_episodes)


def collect(
    config: CollectConfig,
    task: str,
    seed: int,
    out: Path,
    probe: Path,
    work: Path,
    fleet: FleetConfig,
    progress: Progress,
) -> dict[str, Any]:
    """Record play in reality and write it to `out` as a LeRobot dataset.

    Args:
        config: how much, and how.
        task: name of a task plug-in.
        seed: run seed of the recorded episodes.
        out: folder of the dataset; must not exist.
        probe: folder of the quick probe; used as it is if it exists, since later episodes name it in their lineage.
        work: keeps what a later call with the same arguments goes on from.
        fleet: the workers that step reality.
        progress: told how far it is.

    Returns:
        The number of episodes and steps, and the quick probe's metrics.
    """
    from ...generators.fleet import run_episodes
    from ...generators.probe import train_probe
    from ...storage.convert import convert
    from ...storage.dataset import open_dataset

    chosen = load_plugin("tasks", task)
    staging = work / "episodes"

    def play(stream: PluginRef, indices: range) -> None:
        plan = RolloutPlan(
            stage="collect",
            world=chosen.reality,
            stream=stream,
            run_seed=seed,
            max_steps=config.max_steps,
            num_slots=config.num_slots,
            stop_on_success=False,
        )
        run_episodes(plan, indices, staging, config=fleet, progress=progress)

    play(chosen.play(None), range(config.num_first_episodes))
    # The probe's metrics are written last.
    trained = (probe / "metrics.json").exists()
    metrics = {} if trained else train_probe(staging, probe, config.probe, progress)
    play(chosen.play(str(probe)), range(config.num_first_episodes, config.num_episodes))
    convert(open_dataset(staging), out, "lerobot")
    return {**interaction_metrics(out), "first_probe": metrics}


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
    """Tell whether a dataset has changed without reading it: sha256 of its files' names, sizes and times."""
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lines = [f"{file.relative_to(path)} {file.stat().st_size} {file.stat().st_mtime_ns}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
