"""Which stages of a run are done, and how one is done so that a killed try leaves nothing half made.

A stage is done when its manifest names its digest and all its outputs exist. The manifest is written last,
by rename, so that nothing is taken for done that is not.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..storage.atomic import make_folder
from ..storage.errors import StoreError
from ..storage.lineage import code_version
from ..storage.progress import Progress
from .plain import differences, to_plain
from .run_folder import RunFolder
from .stage import Stage, stage_digests


def is_done(folder: RunFolder, stage: Stage, digest: str) -> bool:
    """Whether the outputs of `stage` are there and were made with just this config and these inputs."""
    manifest = folder.manifest(stage.name)
    return (
        manifest is not None
        and manifest["digest"] == digest
        and all((folder.path / output).exists() for output in stage.outputs)
    )


def perform(folder: RunFolder, stage: Stage, digest: str, progress: Progress) -> dict[str, Any]:
    """Run one stage that is not done, record it and return its manifest.

    Outputs of an earlier config are removed first; work of an earlier try of the same config, or of the same
    `work_config`, is kept and goes on.

    Raises:
        StoreError: the stage ended without making one of its outputs.
    """
    _clear(folder, stage, digest)
    work = _work(folder, stage, digest)
    make_folder(work)
    folder.record(stage=stage.name, event="started", digest=digest)
    started = time.time()
    try:
        metrics = to_plain(stage.run(work, progress))
        _check_outputs(folder, stage)
    except BaseException as error:
        text = f"{type(error).__name__}: {error}".strip(": ")
        folder.record(stage=stage.name, event="failed", seconds=round(time.time() - started, 2), error=text)
        raise
    seconds = round(time.time() - started, 2)
    manifest = _manifest(stage, digest, metrics, started, seconds)
    folder.write_manifest(stage.name, manifest)
    folder.record(stage=stage.name, event="done", seconds=seconds)
    shutil.rmtree(work)
    return manifest


def changes(folder: RunFolder, stage: Stage, digest: str) -> list[str]:
    """Why a stage that once finished must run again, as short phrases; empty if it never finished or is done."""
    manifest = folder.manifest(stage.name)
    if manifest is None or is_done(folder, stage, digest):
        return []
    missing = [f"{output} is missing" for output in stage.outputs if not (folder.path / output).exists()]
    settings = differences(manifest["config"], to_plain(stage.config))
    version = [] if manifest["version"] == stage.version else ["this version of demoloom does it differently"]
    return missing + settings + version or [f"what it reads has changed ({', '.join(stage.needs)})"]


def _clear(folder: RunFolder, stage: Stage, digest: str) -> None:
    folder.drop_manifest(stage.name)
    for output in stage.outputs:
        _remove(folder.path / output)
    work = _work(folder, stage, digest)
    for old in work.parent.glob(f"{stage.name}-*"):
        if old != work and old.name.rpartition("-")[0] == stage.name:
            _remove(old)


def _work(folder: RunFolder, stage: Stage, digest: str) -> Path:
    """The work folder that this stage goes on from."""
    if stage.work_config is None:
        return folder.work(stage.name, digest)
    needed = [manifest["digest"] for name in stage.needs if (manifest := folder.manifest(name)) is not None]
    part = replace(stage, config={"work": stage.work_config, "needs": needed}, needs=())
    return folder.work(stage.name, stage_digests([part])[stage.name])


def _remove(path: Path) -> None:
    # A linked interaction dataset belongs to the user: the link goes, the data stays.
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)


def _check_outputs(folder: RunFolder, stage: Stage) -> None:
    missing = [output for output in stage.outputs if not (folder.path / output).exists()]
    if missing:
        raise StoreError(f"stage {stage.name!r} ended without making {', '.join(missing)} in {folder.path}")


def _manifest(stage: Stage, digest: str, metrics: Any, started: float, seconds: float) -> dict[str, Any]:
    return {
        "stage": stage.name,
        "digest": digest,
        "version": stage.version,
        "config": to_plain(stage.config),
        "needs": list(stage.needs),
        "outputs": list(stage.outputs),
        "code_version": code_version(),
        "started": round(started, 3),
        "seconds": seconds,
        "metrics": metrics,
    }
