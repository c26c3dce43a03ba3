"""`demoloom split`: datasets for training and for validation which share no start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import tyro

from ..choices import Given, refuse_preset
from ..console import say, show_progress
from ..output import OutPath, Output, OutputOptions, SourcePath

# Not a default of the option: tyro would take no other names then.
_PARTS = {"train": 0.9, "val": 0.1}


@dataclass(frozen=True)
class Options:
    """Write a dataset's episodes as several, at random; episodes from one start (one seed) stay together."""

    source: SourcePath
    """Folder of the dataset to read."""
    out: OutPath
    """Folder to write, with a folder in it for each part; must not exist yet."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Names with fractions that sum to 1, or with numbers that sum to all; train 0.9 val 0.1 by default."""
    seed: int = 0
    """Another seed gives other parts."""
    output: OutputOptions = field(default_factory=Output)


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("split", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Split and say how many episodes each part has."""
    from ...storage.dataset import open_dataset
    from ...storage.editing.split import split

    source, format = open_dataset(options.source), options.output.choose_format(options.source)
    codec, parts = options.output.choose_codec(), options.parts or _PARTS
    with show_progress("split") as progress:
        sizes = split(source, options.out, format, parts, seed=options.seed, codec=codec, progress=progress)
    for name, size in sizes.items():
        say(f"wrote {size} episodes to {options.out / name}")
