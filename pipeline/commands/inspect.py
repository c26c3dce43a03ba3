"""`demoloom inspect`: what a dataset holds, on the terminal, as a page and for Rerun."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ..choices import Given, refuse_preset
from ..console import say, show_progress


@dataclass(frozen=True)
class Options:
    """Show what a dataset holds, LeRobot or Zarr."""

    path: Annotated[Path, tyro.conf.Positional]
    """Folder of the dataset."""
    episodes: int = 48
    """Show at most so many episodes one by one, evenly spread over each outcome; 0 shows all."""
    html: Path | None = None
    """Write a page to this file that needs nothing besides itself: histograms, stills, films and a table."""
    rrd: Path | None = None
    """Write a recording of each shown episode for the Rerun viewer to this folder; must not exist yet."""


def default_options(given: Given) -> object:
    """The path has no default."""
    refuse_preset("inspect", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Print what the dataset holds and write what was asked for."""
    from ...storage.dataset import open_dataset
    from ...storage.rerun_export import export_rerun
    from ..inspection import inspect_dataset, print_inspection, write_page

    dataset = open_dataset(options.path)
    with show_progress("inspect") as progress:
        inspection = inspect_dataset(dataset, options.episodes, progress)
    print_inspection(inspection)
    if options.html is not None:
        with show_progress("page") as progress:
            write_page(dataset, inspection, options.html, progress)
        say(f"wrote the page {options.html}")
    if options.rrd is not None:
        with show_progress("rerun") as progress:
            export_rerun(dataset, options.rrd, [one.id for one in inspection.shown], progress)
        say(f"wrote {len(inspection.shown)} recordings to {options.rrd}; `rerun {options.rrd}/*.rrd` shows them")
