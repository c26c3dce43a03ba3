"""`demoloom diff`: what changed from one dataset to another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from ..choices import Given, refuse_preset
from ..console import show_progress

if TYPE_CHECKING:
    from ...storage.diff import DatasetDiff


@dataclass(frozen=True)
class Options:
    """Say what changed from one dataset to another: layout, episodes, lineage and scores.

    The exit code is 0 if both hold the same episodes, however they are stored and were made, 1 if not, 2 on an error.
    """

    left: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="BEFORE")]
    """Folder of a dataset, LeRobot or Zarr."""
    right: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="AFTER")]
    """Folder of the other."""
    json: bool = False
    """Print everything as JSON."""
    limit: int = 20
    """Name at most so many episodes of each kind; 0 names all."""


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("diff", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> int:
    """Print the differences and return the exit code."""
    import json

    from ...storage.dataset import open_dataset
    from ...storage.diff import diff

    with show_progress("diff") as progress:
        found = diff(open_dataset(options.left), open_dataset(options.right), progress)
    if options.json:
        print(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        print("\n".join(lines(found, options.limit)))
    return 0 if found.is_same else 1


def lines(found: DatasetDiff, limit: int = 0) -> Iterator[str]:
    """The differences as text, `left -> right` in each."""
    yield "the same episodes" if found.is_same else "different"
    yield f"content   {found.hashes[0][:12]} -> {found.hashes[1][:12]}"
    for name, (left, right) in (("episodes", found.num_episodes), ("rows", found.num_rows)):
        yield f"{name:<8}  {left} -> {right}"
    for outcome, (here, there) in found.outcomes.items():
        yield f"outcome   {outcome}: {here} -> {there}"
    yield from (f"spec      {sentence}" for sentence in found.spec)
    yield from _some("only left ", found.only_left, limit)
    yield from _some("only right", found.only_right, limit)
    yield from _some("changed   ", [f"{id}: {'; '.join(what)}" for id, what in found.changed.items()], limit)
    for key, (left_text, right_text) in found.lineage.items():
        yield f"lineage   {key}: {left_text} -> {right_text}"
    for shift in found.scores:
        yield f"score     {shift.name}: median {shift.left:.4g} -> {shift.right:.4g}, distance {shift.distance:.2f}"


def _some(title: str, items: Sequence[str], limit: int) -> Iterator[str]:
    shown = items[: limit or None]
    yield from (f"{title} {item}" for item in shown)
    if len(shown) < len(items):
        yield f"{title} ... and {len(items) - len(shown)} more; --limit 0 names all"
