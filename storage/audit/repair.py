"""Mending what an audit found, where that needs no data that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..atomic import locked_folder
from ..lerobot_store import is_own, locked
from ..progress import Progress, silent
from .examine import audit
from .finding import Finding
from .quarantine import Quarantine
from .report import Report

#: Mending one thing may bring another to light, such as counts once a torn file is away.
_ROUNDS = 4


@dataclass(frozen=True)
class Repaired:
    """What a repair did, and what an audit finds after it."""

    done: tuple[str, ...]
    report: Report

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"repaired": list(self.done), **self.report.to_dict()}


def repair(path: Path | str, *, retime: bool = False, progress: Progress = silent) -> Repaired:
    """Mend what can be mended at `path`: counts, statistics, leftovers of killed writers, torn Zarr episodes.

    What is taken out of the dataset goes to `quarantine/<dataset>/` beside it, with the originals of the files that are
    rewritten. Writers of demoloom's wait meanwhile.

    Args:
        path: folder of the dataset.
        retime: also stamp rows t / fps where their stamps follow no rate; only right if no frame is missing.
        progress: told how far each audit is.

    Raises:
        StoreError: there is no dataset, or the disk is full or not to be written; what was mended stays mended.
    """
    path = Path(path)
    done: list[str] = []
    with _alone(path):
        for _ in range(_ROUNDS):
            report = audit(path, progress, is_locked=True)
            mendable = [finding for finding in report.findings if retime or finding.mend != "retime"]
            steps = list(_mend(path, report.format, mendable))
            if not steps:
                return Repaired(tuple(done), report)
            done += steps
        return Repaired(tuple(done), audit(path, progress, is_locked=True))


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Keep other repairs away, and writers: half of what one is about to count looks like what a killed one left."""
    # `audit` says what is there instead of a dataset.
    with locked_folder(path) if path.is_dir() else nullcontext(), locked(path) if is_own(path) else nullcontext():
        yield


def _mend(path: Path, format: str, findings: list[Finding]) -> Iterator[str]:
    quarantine = Quarantine(path)
    for file in dict.fromkeys(finding.file for finding in findings if finding.mend == "quarantine"):
        if file is not None and (path / file).exists():
            yield f"moved {file} to {quarantine.take(file)}"
    if format == "lerobot":
        yield from _mend_lerobot(path, findings, quarantine)


def _mend_lerobot(path: Path, findings: list[Finding], quarantine: Quarantine) -> Iterator[str]:
    from . import mend_lerobot as mend
    from .manifest import read_manifest

    mends = {finding.mend for finding in findings}
    manifest = read_manifest(path, [])
    if manifest is None:
        return
    if "tail" in mends:
        yield from mend.drop_tail(manifest, quarantine)
    if "retime" in mends:
        yield from mend.retime(manifest, quarantine)
    if "info" in mends:
        yield mend.correct_info(manifest, quarantine)
    if "pixels" in mends:
        yield mend.count_pixels(manifest, quarantine)
    if "stats" in mends:
        fields = {finding.field for finding in findings if finding.mend == "stats"}
        yield from mend.recompute_stats(manifest, fields, quarantine)
