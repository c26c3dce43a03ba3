"""`demoloom trim`: cut idle ends off episodes."""

from __future__ import annotations

from dataclasses import dataclass, field

import tyro

from ..choices import Given, refuse_preset
from ..console import say, show_progress
from ..output import OutPath, Output, OutputOptions, SourcePath


@dataclass(frozen=True)
class Options:
    """Copy a dataset without the steps at the ends of its episodes in which nothing moves."""

    path: SourcePath
    """Folder of the dataset, LeRobot or Zarr; it is only read."""
    out: OutPath
    """Folder to write; must not exist yet."""
    threshold: float = 0.01
    """A step is idle if no dimension of state and action, nor the score, changes faster, in ranges a second."""
    keep: int = 2
    """Idle steps that stay at each end."""
    dry_run: bool = False
    """Write nothing, only list what would be cut."""
    output: OutputOptions = field(default_factory=Output)


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("trim", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Trim and print what was cut off which episode."""
    from ...storage.dataset import open_dataset
    from ...storage.trim import TrimSettings, find_cuts, trim

    dataset, settings = open_dataset(options.path), TrimSettings(options.threshold, options.keep)
    with show_progress("trim") as progress:
        if options.dry_run:
            cuts = list(find_cuts(dataset, settings, progress))
        else:
            format, codec = options.output.choose_format(options.path), options.output.choose_codec()
            cuts = trim(dataset, options.out, format, settings, codec=codec, progress=progress)
    if not options.dry_run:
        say(f"wrote {len(cuts)} episodes to {options.out}")
    for cut in cuts:
        if cut.num_cut:
            print(f"{cut.id}: {cut.start} rows off the start, {cut.length - cut.stop} off the end of {cut.length}")
    print(f"{sum(cut.num_cut for cut in cuts)} of {sum(cut.length for cut in cuts)} rows cut")
