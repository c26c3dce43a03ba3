"""`demoloom evaluate-world`: how good a world is on data that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from ..choices import Given, refuse_preset

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Options:
    """Run a world open loop on the recorded actions of episodes that it was not trained on, and compare.

    Beside its frames stand those of the autoencoder, which only redraws the real ones, and of no change. Poses are read
    from the frames by the world's probe, those of bodies that moved apart from those of bodies that did not.
    """

    world: Annotated[Path, tyro.conf.Positional]
    """Checkpoint of a learned world, or the name of one that comes with demoloom."""
    data: Annotated[Path, tyro.conf.Positional]
    """A dataset of the same robot, LeRobot or Zarr."""
    num_episodes: int = 50
    """At most so many of its episodes, evenly spread."""
    json: Path | None = None
    """Write everything to this file too."""


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("evaluate-world", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Measure and print."""
    from rich.console import Console

    from ...generators.learned.assessment import assess_world
    from ...generators.learned.bundled import world_folder
    from ...storage.atomic import write_json

    found = assess_world(world_folder(options.world), options.data, options.num_episodes)
    console = Console()
    console.print(_open_loop(found["open_loop"]))
    if found["poses"]:
        console.print(_poses(found["poses"]))
    ratio = found["shuffled_action_ratio"]
    console.print(f"error under another episode's actions, over that under its own: {_number(ratio)}")
    if (misread := found["misread_actions"]) is not None:
        world, real = (_number(misread[name]) for name in ("world", "real"))
        console.print(f"actions read back (their range is 2), error in the world: {world}, in real video: {real}")
    if options.json is not None:
        write_json(options.json, found)


def _open_loop(rows: Sequence[Mapping[str, Any]]) -> Table:
    """A column for each number of steps."""
    # Errors of poses have a table of their own.
    columns = [dict(_flat({name: row[name] for name in row if name != "pose_error"})) for row in rows]
    table = _table("steps", *(column.pop("steps") for column in columns))
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    return table


def _poses(rows: Sequence[Mapping[str, Any]]) -> Table:
    """A row for each number of steps and label: median and 90th percentile of the world, and medians beside it."""
    table = _table("pose", "moved", "steps", "n", "place (90 %)", "degrees (90 %)", "redrawn", "unchanged")
    for row in rows:
        errors = {name: _number(row[name]) for name in row if name.startswith(("place", "degrees"))}
        table.add_row(
            row["label"].replace("_", " "),
            "yes" if row["moved"] else "no",
            str(row["steps"]),
            str(row["episodes"]),
            f"{errors['place']} ({errors['place_p90']})",
            f"{errors['degrees']} ({errors['degrees_p90']})",
            f"{errors['place_autoencoder']}, {errors['degrees_autoencoder']}°",
            f"{errors['place_no_change']}, {errors['degrees_no_change']}°",
        )
    return table


def _table(first: str, *others: str) -> Table:
    from rich.table import Table

    table = Table(box=None)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _number(value: float | None) -> str:
    """Short enough for eight columns on a narrow screen."""
    if value is None:
        return "-"
    return f"{value:.3g}" if abs(value) >= 0.1 else f"{value:.2g}"


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name.replace('_', ' ')} ")
        else:
            yield prefix + (name if prefix else name.replace("_", " ")), _number(value)
