"""`demoloom inspect`: the episodes of a dataset as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ...storage.episode import EpisodeSummary
from ...storage.spec import EpisodeSpec
from ..choices import Given, refuse_preset


@dataclass(frozen=True)
class Options:
    """List the episodes of a dataset, LeRobot or Zarr."""

    path: Annotated[Path, tyro.conf.Positional]
    """Folder of the dataset."""
    limit: int = 20
    """List at most so many episodes; 0 lists all."""


def default_options(given: Given) -> object:
    """The path has no default."""
    refuse_preset("inspect", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Print what the dataset holds, a line for each episode, and how the outcomes add up."""
    from ...storage.dataset import open_dataset

    dataset = open_dataset(options.path)
    summaries = dataset.summaries()
    print(describe_spec(dataset.spec))
    print(table(summaries[: options.limit or None]))
    if 0 < options.limit < len(summaries):
        print(f"... and {len(summaries) - options.limit} more; --limit 0 lists all")
    print(totals(summaries))


def describe_spec(spec: EpisodeSpec) -> str:
    """Robot, rate, cameras, state, action and labels, each on a line."""
    cameras = ", ".join(f"{camera.name} {camera.width}x{camera.height}" for camera in spec.cameras)
    labels = "; ".join(f"{name}: {', '.join(vector.names)}" for name, vector in spec.labels.items())
    return "\n".join(
        [
            f"robot    {spec.robot_type}, {spec.fps} Hz",
            f"cameras  {cameras}",
            f"state    {', '.join(spec.state.names)}",
            f"action   {', '.join(spec.action.names)}",
            f"labels   {labels or 'none'}",
        ]
    )


def table(summaries: Sequence[EpisodeSummary]) -> str:
    """One line for each episode."""
    lines = [f"{'index':>5}  {'id':<24} {'steps':>5}  {'outcome':<9} {'score':>5} {'trust':>5}  reason"]
    for one in summaries:
        lines.append(
            f"{one.index:>5}  {one.id:<24} {one.length:>5}  {one.outcome:<9} {one.score_max:>5.2f} "
            f"{one.trust_min:>5.2f}  {one.reason}".rstrip()
        )
    return "\n".join(lines)


def totals(summaries: Sequence[EpisodeSummary]) -> str:
    """How many episodes and steps there are, and how many of each outcome."""
    outcomes = Counter(one.outcome for one in summaries)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
    return f"{len(summaries)} episodes, {sum(one.length for one in summaries)} steps: {counts or 'none'}"
