"""`demoloom evaluate-world`: how good a world is on data that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from ..choices import Given, refuse_preset


@dataclass(frozen=True)
class Options:
    """Run a world open loop on the recorded actions of episodes that it was not trained on, and compare."""

    world: Annotated[Path, tyro.conf.Positional]
    """Checkpoint of a learned world."""
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
    """Measure and print a table with a column for each number of steps."""
    from rich.console import Console
    from rich.table import Table

    from ...generators.learned.assessment import assess_world
    from ...storage.atomic import write_json

    found = assess_world(options.world, options.data, options.num_episodes)
    columns = [dict(_flat(row)) for row in found["open_loop"]]
    table = Table(box=None)
    table.add_column("steps", no_wrap=True)
    for column in columns:
        table.add_column(column.pop("steps"), justify="right", no_wrap=True)
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    Console().print(table)
    if options.json is not None:
        write_json(options.json, found)


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{name.replace('_', ' ')}, ")
        else:
            yield prefix + (name if prefix else name.replace("_", " ")), f"{value:.3g}"
