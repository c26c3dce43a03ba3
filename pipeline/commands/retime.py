"""`demoloom retime`: a dataset at its true rate, or at another."""

from __future__ import annotations

from dataclasses import dataclass, field

import tyro

from ...storage.errors import ConfigError
from ..choices import Given, refuse_preset
from ..console import say, show_progress
from ..output import OutPath, Output, OutputOptions, SourcePath


@dataclass(frozen=True)
class Options:
    """Write a dataset at another rate; its timestamps may be anything.

    --fps keeps every row and stamps it anew, for data whose rate was declared wrongly or whose clock jittered.
    --resample goes by the timestamps: the frame is the nearest, the state lies between two, the action is held.
    """

    source: SourcePath
    """Folder of the dataset to read."""
    out: OutPath
    """Folder to write; must not exist yet."""
    fps: float | None = None
    """The true rate in Hz; every row is kept."""
    resample: float | None = None
    """The rate in Hz to resample to."""
    output: OutputOptions = field(default_factory=Output)


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("retime", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Re-time and say how many episodes were written."""
    from ...storage.editing.retime import resample, restamp
    from ...storage.editing.uneven import open_uneven

    if (options.fps is None) == (options.resample is None):
        raise ConfigError(f"give either --fps or --resample, got {options.fps} and {options.resample}")
    source, format = open_uneven(options.source), options.output.choose_format(options.source)
    codec = options.output.choose_codec()
    with show_progress("retime") as progress:
        if options.fps is not None:
            written = restamp(source, options.out, format, options.fps, codec=codec, progress=progress)
        else:
            written = resample(source, options.out, format, options.resample or 0, codec=codec, progress=progress)
    say(f"wrote {written} episodes to {options.out}, {options.fps or options.resample:g} rows a second")
