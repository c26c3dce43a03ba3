"""`demoloom convert`: the same episodes in the other format."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from ..choices import Given, refuse_preset
from ..console import say


@dataclass(frozen=True)
class Options:
    """Write the episodes of a dataset as a new LeRobot v3 dataset or Zarr store."""

    source: Annotated[Path, tyro.conf.Positional]
    """Folder of the dataset to read."""
    out: Annotated[Path, tyro.conf.Positional]
    """Folder to write; must not exist yet."""
    format: Literal["lerobot", "zarr"] = "lerobot"
    """What to write. Zarr keeps frames exactly; LeRobot keeps them as H.264 video."""


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("convert", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Convert and say how many episodes were written."""
    from ...storage.convert import convert
    from ...storage.dataset import open_dataset

    dataset = open_dataset(options.source)
    convert(dataset, options.out, options.format)
    say(f"wrote {len(dataset)} episodes to {options.out}")
