"""`demoloom curate`: keep the episodes that meet a condition, and the others apart with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from ..choices import Given, refuse_preset
from ..console import say, show_progress

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

    path: Annotated[Path, tyro.conf.Positional]
    """Folder of the dataset, LeRobot or Zarr; it is only read."""
    out: Annotated[Path, tyro.conf.Positional]
    """Folder to write; must not exist yet."""
    keep: str
    """What an episode must meet, such as "jerk_mean < 3 and idle_share < 0.2"."""
    rejected: Path | None = None
    """Folder of all other episodes, with the reasons; `rejected` beside `out` by default."""
    format: Literal["lerobot", "zarr"] | None = None
    """What is written; by default what is read. LeRobot keeps frames as lossless video."""
    dry_run: bool = False
    """Write nothing, only list the verdicts."""


def default_options(given: Given) -> object:
    """The paths and the condition have no default."""
    refuse_preset("curate", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Curate, then print which clause rejected how many; in a dry run the verdict on each episode."""
    from ...storage.create import format_of
    from ...storage.curation import curate, judge, parse_keep
    from ...storage.dataset import open_dataset
    from ...storage.quality import quality_of

    condition, dataset = parse_keep(options.keep), open_dataset(options.path)
    rejected = options.rejected or options.out.with_name("rejected")
    with show_progress("curate") as progress:
        if options.dry_run:
            verdicts = judge(dataset, condition, quality_of(dataset, progress))
        else:
            format = options.format or format_of(dataset)
            verdicts = curate(dataset, options.keep, options.out, rejected, format, progress=progress)
    if options.dry_run:
        print(table(verdicts))
    else:
        others = "" if all(verdict.is_kept for verdict in verdicts) else f" and the others to {rejected}"
        say(f"wrote what was kept to {options.out}{others}")
    print(totals(verdicts))


def table(verdicts: Sequence[Verdict]) -> str:
    """One line for each episode."""
    width = max((len(verdict.id) for verdict in verdicts), default=0)
    return "\n".join(
        f"{verdict.id:<{width}}  {'kept' if verdict.is_kept else verdict.reason}".rstrip() for verdict in verdicts
    )


def totals(verdicts: Sequence[Verdict]) -> str:
    """How many are kept, and how many each clause rejected."""
    from ...storage.curation import count_failing

    kept = sum(verdict.is_kept for verdict in verdicts)
    counts = {"kept": kept, "rejected": len(verdicts) - kept}
    counts |= {f"{clause} does not hold": count for clause, count in count_failing(verdicts).items()}
    return "\n".join(f"{count:>6}  {what}" for what, count in counts.items())
