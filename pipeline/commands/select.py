"""`demoloom select`: some of a dataset's episodes, or some of their rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import tyro

from ...storage.episode import Outcome
from ...storage.errors import ConfigError
from ..choices import Given, refuse_preset
from ..console import say, show_progress
from ..output import OutPath, Output, OutputOptions, SourcePath


@dataclass(frozen=True)
class Options:
    """Write those episodes of a dataset that meet every condition given, or with --drop all others.

    `demoloom curate` selects by quality scores.
    """

    source: SourcePath
    """Folder of the dataset to read."""
    out: OutPath
    """Folder to write; must not exist yet."""
    ids: tuple[str, ...] = ()
    """Episodes with one of these ids."""
    indices: tuple[str, ...] = ()
    """Episodes with one of these indices: 7, or 10:20 (without 20)."""
    outcomes: tuple[Outcome, ...] = ()
    """Episodes with one of these outcomes."""
    task: str | None = None
    """Episodes of this task; * and ? stand for anything."""
    min_score: float = 0.0
    """Episodes that reach this score at any step."""
    min_trust: float = 0.0
    """Episodes that never fall below this trust."""
    drop: bool = False
    """Leave these episodes out and keep the others."""
    count: int | None = None
    """Of what is selected keep so many, evenly spread."""
    seed: int | None = None
    """With --count: choose them at random instead."""
    every: int = 1
    """Keep every so manyth row; the rate falls with it, rewards are summed."""
    output: OutputOptions = field(default_factory=Output)


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("select", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Select and say how many episodes were written."""
    from ...storage.clips import kept_codec
    from ...storage.dataset import open_dataset
    from ...storage.drafts import write_drafts
    from ...storage.editing.retime import every
    from ...storage.editing.select import Selection, index_range, select, thin

    if options.seed is not None and options.count is None:
        raise ConfigError("--seed says which --count episodes to take; give both")
    source, format = open_dataset(options.source), options.output.choose_format(options.source)
    selection = Selection(
        ids=options.ids or None,
        indices=[index_range(text) for text in options.indices] or None,
        outcomes=options.outcomes or None,
        task=options.task,
        min_score=options.min_score,
        min_trust=options.min_trust,
    )
    ids = select(source, selection, drop=options.drop)
    if options.count is not None:
        ids = thin(ids, options.count, options.seed)
    spec, drafts = every(source, ids, options.every)
    codec = options.output.choose_codec() or (kept_codec([source]) if options.every == 1 else None)
    with show_progress("select") as progress:
        write_drafts(options.out, format, spec, drafts, codec=codec, total=len(ids), progress=progress)
    say(f"wrote {len(ids)} of {len(source)} episodes to {options.out}")
