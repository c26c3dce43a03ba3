"""`demoloom curate`: keep the episodes that meet a condition, and the others apart with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import tyro

from ..choices import Given, refuse_preset
from ..console import say, show_progress
from ..output import OutPath, Output, OutputOptions, SourcePath

if TYPE_CHECKING:
    from ...storage.curation import Verdict


@dataclass(frozen=True)
class Options:
    """Copy the episodes that meet a condition on their scores, and the others to a folder of their own.

    The condition is written as in Python, of comparisons, and, or, not, arithmetic, min, max and abs. It may name
    length, duration_s, path_efficiency, jerk_mean, jerk_p95, idle_share, idle_start, idle_end, action_saturation,
    score_mean, score_max, score_last, trust_mean, trust_min, nearest_distance, earlier_distance (to drop copies and
    keep the first), start_share, success, outcome, reason, task, id, nearest_id, index and seed.
    """

    path: SourcePath
    """Folder of the dataset, LeRobot or Zarr; it is only read."""
    out: OutPath
    """Folder to write; must not exist yet."""
    keep: str
    """What an episode must meet, such as "jerk_mean < 3 and idle_share < 0.2"."""
    rejected: Path | None = None
    """Folder of all other episodes, with the reasons; `rejected` beside `out` by default."""
    dry_run: bool = False
    """Write nothing, only list the verdicts."""
    output: OutputOptions = field(default_factory=Output)


def default_options(given: Given) -> object:
    """The paths and the condition have no default."""
    refuse_preset("curate", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Curate, then print how many each clause rejected; in a dry run the verdict on each episode first."""
    from ...storage.curation import curate, judge, parse_keep
    from ...storage.dataset import open_dataset
    from ...storage.quality import quality_of

    condition, dataset = parse_keep(options.keep), open_dataset(options.path)
    rejected = options.rejected or options.out.with_name("rejected")
    with show_progress("curate") as progress:
        if options.dry_run:
            verdicts = judge(dataset, condition, quality_of(dataset, progress))
        else:
            format, codec = options.output.choose_format(options.path), options.output.choose_codec()
            verdicts = curate(dataset, options.keep, options.out, rejected, format, codec=codec, progress=progress)
    if options.dry_run:
        print(table(verdicts))
    else:
        others = "" if all(verdict.is_kept for verdict in verdicts) else f" and the others to {rejected}"
        say(f"wrote what was kept to {options.out}{others}")
    print(totals(verdicts))


def table(verdicts: Sequence[Verdict]) -> str:
    """One line for each episode: what it has of all that the condition names, and which clauses it fails."""
    from ...storage.condition import shown

    names = list(verdicts[0].values) if verdicts else []
    rows = [["episode", *names, "verdict"]]
    for verdict in verdicts:
        fate = "kept" if verdict.is_kept else f"fails {', '.join(verdict.failing)}"
        rows.append([verdict.id, *map(shown, verdict.values.values()), fate])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def totals(verdicts: Sequence[Verdict]) -> str:
    """How many are kept, and how many each clause rejected."""
    from ...storage.curation import count_failing

    kept = sum(verdict.is_kept for verdict in verdicts)
    counts = {"kept": kept, "rejected": len(verdicts) - kept}
    counts |= {f"{clause} does not hold": count for clause, count in count_failing(verdicts).items()}
    return "\n".join(f"{count:>6}  {what}" for what, count in counts.items())
