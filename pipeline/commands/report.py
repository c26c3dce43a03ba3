"""`demoloom report`: the report of a run, written again from what lies in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ...storage.errors import StoreError
from ..choices import Given, refuse_preset
from ..console import show_progress
from ..run_folder import RunFolder


@dataclass(frozen=True)
class Options:
    """Write `report/index.html` of a run from the stages that have finished so far."""

    run_dir: Annotated[Path, tyro.conf.Positional]
    """Folder of the run."""


def default_options(given: Given) -> object:
    """The run folder has no default."""
    refuse_preset("report", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Replace the report and print where it lies."""
    from ..report import write_report

    folder = RunFolder(options.run_dir)
    if not (folder.path / "events.jsonl").exists():
        raise StoreError(f"{folder.path} is no run folder (it has no events.jsonl); `demoloom run` makes one")
    with show_progress("report") as progress:
        write_report(folder, folder.path / "report", progress)
    print(folder.path / "report" / "index.html")
