"""Running the stages of a run in order, each only where its result is not there yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..generators.fleet.ray_metrics import RayMetrics
from ..storage.atomic import write_json
from ..storage.lineage import code_version
from ..storage.progress import Progress, silent
from .console import say, show_progress
from .fleet_events import fleet_events
from .machine import describe_machine, describe_packages
from .run_folder import RunFolder
from .stage import Stage, stage_digests
from .stage_store import changes, is_done, perform
from .watchers import Watchers

#: Performs a stage that is not done: (folder, stage, digest, quiet) -> manifest.
Performer = Callable[[RunFolder, Stage, str, bool], dict[str, Any]]


def run_stages(
    folder: RunFolder,
    stages: Sequence[Stage],
    *,
    performer: Performer | None = None,
    session: Callable[[], AbstractContextManager[Any]] = nullcontext,
    quiet: bool = False,
) -> list[str]:
    """Bring a run to its end and return the names of the stages that had to run.

    Args:
        folder: the run's folder; locked meanwhile.
        stages: in order, each after those it needs.
        performer: runs one stage (`perform_shown`); the Prefect flow gives one that makes it a task.
        session: opens Ray; entered once, and only if a stage that uses the fleet has to run.
        quiet: show nothing.

    Raises:
        StoreError: another process runs stages in this folder, or a manifest cannot be read.
    """
    digests = stage_digests(stages)
    with folder.lock():
        todo = pending(folder, stages)
        _announce(folder, stages, todo, quiet)
        with session() if any(stage.uses_fleet for stage in todo) else nullcontext():
            for stage in todo:
                (performer or perform_shown)(folder, stage, digests[stage.name], quiet)
                write_lineage(folder, stages)
    return [stage.name for stage in todo]


def pending(folder: RunFolder, stages: Sequence[Stage]) -> list[Stage]:
    """The stages whose outputs are not there, or were made from another config or other inputs."""
    digests = stage_digests(stages)
    return [stage for stage in stages if not is_done(folder, stage, digests[stage.name])]


def perform_shown(
    folder: RunFolder, stage: Stage, digest: str, quiet: bool = False, also: Progress = silent
) -> dict[str, Any]:
    """Perform one stage and show how far it is and how long it took; `also` is told how far it is, too."""
    metrics = RayMetrics(folder.path.name, stage.name)

    def run(work: Path, progress: Progress) -> dict[str, Any]:
        # Closed before the stage is recorded as done or failed, which is to stand last.
        with fleet_events(folder, stage.name) as events:
            return stage.run(work, Watchers(progress, events, metrics, also))

    watched = replace(stage, run=run)
    if quiet:
        return perform(folder, watched, digest, silent)
    with show_progress(stage.name) as shown:
        manifest = perform(folder, watched, digest, shown)
    ended = manifest["metrics"].get("ended")
    say(f"{stage.name}: done in {manifest['seconds']:.0f} s{f'; {ended}' if ended else ''}")
    return manifest


def write_lineage(folder: RunFolder, stages: Sequence[Stage]) -> None:
    """Write `lineage.json`: how each result in this run folder was made."""
    manifests = {stage.name: folder.manifest(stage.name) for stage in stages}
    lineage = {
        "run": folder.path.name,
        "path": str(folder.path),
        "code_version": code_version(),
        "machine": describe_machine(),
        "packages": describe_packages(),
        "stages": {name: manifest for name, manifest in manifests.items() if manifest is not None},
    }
    write_json(folder.path / "lineage.json", lineage)


def _announce(folder: RunFolder, stages: Sequence[Stage], todo: Sequence[Stage], quiet: bool) -> None:
    if quiet:
        return
    digests = stage_digests(stages)
    for stage in todo:
        why = changes(folder, stage, digests[stage.name])
        if why:
            say(f"{stage.name}: runs again, {'; '.join(why)}")
    done = [stage.name for stage in stages if stage not in todo]
    if done:
        say(f"already done in {folder.path}: {', '.join(done)}")
