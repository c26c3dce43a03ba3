"""`demoloom convert`: the same episodes in the other format."""

from __future__ import annotations

from dataclasses import dataclass, field

import tyro

from ..choices import Given, refuse_preset
from ..console import say, show_progress
from ..output import OutPath, Output, OutputOptions, SourcePath


@dataclass(frozen=True)
class Options:
    """Write the episodes of a dataset as a new LeRobot v3 dataset or Zarr store."""

    source: SourcePath
    """Folder of the dataset to read."""
    out: OutPath
    """Folder to write; must not exist yet."""
    output: OutputOptions = field(default_factory=lambda: Output(format="lerobot"))


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("convert", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Convert and say how many episodes were written."""
    from ...storage.convert import convert
    from ...storage.dataset import open_dataset

    source, format = open_dataset(options.source), options.output.choose_format(options.source)
    with show_progress("convert") as progress:
        written = convert(source, options.out, format, codec=options.output.choose_codec(), progress=progress)
    say(f"wrote {written} episodes to {options.out}")
