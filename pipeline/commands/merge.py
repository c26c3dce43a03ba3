"""`demoloom merge`: one dataset out of several."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from ..choices import Given, refuse_preset
from ..console import say, show_progress
from ..output import Output, OutputOptions


@dataclass(frozen=True)
class Options:
    """Write the episodes of several datasets, of either format, as a new one; the sources stay as they are."""

    sources: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="SOURCE ...")]
    """Folders of the datasets to read."""
    out: Path
    """Folder to write; must not exist yet."""
    rename: bool = False
    """Put the name of its dataset before every id; otherwise two episodes of one id must be the same."""
    widen: bool = False
    """Where only the bounds of a vector differ, take the widest."""
    labels: Literal["same", "shared"] = "same"
    """Labels must be the same in all datasets, or only the shared ones are kept."""
    output: OutputOptions = field(default_factory=Output)


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("merge", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Merge and say what was written, what came twice and what was skipped."""
    from ...storage.editing.merge import Merging, merge
    from ...storage.errors import ConfigError

    if not options.sources:
        raise ConfigError("name the datasets to merge")
    how = Merging(options.rename, options.widen, options.labels)
    format, codec = options.output.choose_format(options.sources[0]), options.output.choose_codec()
    with show_progress("merge") as progress:
        merged = merge(options.sources, options.out, format, how, codec=codec, progress=progress)
    for path in merged.skipped:
        say(f"skipped {path}: it has no episode")
    repeated = f"; {merged.num_repeated} came twice and were stored once" if merged.num_repeated else ""
    say(f"wrote {merged.num_episodes} episodes to {options.out}{repeated}")
