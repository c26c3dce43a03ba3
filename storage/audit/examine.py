"""The audit of a dataset of either format."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from ..create import format_of
from ..dataset import no_dataset, open_dataset
from ..errors import StoreError
from ..progress import Progress, silent
from .finding import Finding
from .report import Report
from .tally import Tally


def audit(path: Path | str, progress: Progress = silent, *, is_locked: bool = False) -> Report:
    """Read every row and frame of the dataset at `path` once, and report all that is wrong.

    Nothing is written. What demoloom's writers add meanwhile is left out, and they wait while metadata is read. Memory
    grows with the number of episodes, by about 10 kB for each camera of each, and not with their length.

    Args:
        path: folder of the dataset.
        progress: told how far it is.
        is_locked: whether the caller holds the lock that writers wait for.

    Raises:
        StoreError: there is no dataset at `path`. One that is there and cannot be opened is a finding.
    """
    path, tally, started = Path(path), Tally(), time.monotonic()
    if (format := format_of(path)) is None:
        raise no_dataset(path)
    findings = list(_find(format, path, tally, progress, is_locked))
    return Report(
        format=format,
        findings=tuple(sorted(findings, key=lambda finding: finding.severity != "error")),
        episodes=tally.episodes,
        rows=tally.rows,
        frames=tally.frames,
        seconds=time.monotonic() - started,
    )


def _find(format: str, path: Path, tally: Tally, progress: Progress, is_locked: bool) -> Iterator[Finding]:
    if format == "zarr":
        from .zarr_episodes import audit_zarr

        yield from audit_zarr(path, tally, progress)
    else:
        from .lerobot import audit_lerobot

        found = list(audit_lerobot(path, tally, progress, is_locked=is_locked))
        yield from found
        if not any(finding.severity == "error" for finding in found):
            yield from _unreadable(path)


def _unreadable(path: Path) -> Iterator[Finding]:
    """What keeps demoloom from reading a dataset in which no other fault was found."""
    try:
        open_dataset(path)
    except (StoreError, LookupError, TypeError, ValueError) as error:
        yield Finding(field="dataset", message=f"demoloom cannot read it: {error}")
