"""`demoloom replay`: make an episode of a run again from its lineage alone."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ..choices import Given, refuse_preset
from ..run_folder import RunFolder


@dataclass(frozen=True)
class Options:
    """Make an episode again and say whether its bytes are those that were stored."""

    id: Annotated[str, tyro.conf.Positional]
    """Id of the episode, as `demoloom inspect` lists it."""
    run_dir: Path = Path("runs/tiny")
    """Folder of the run that holds it."""


def default_options(given: Given) -> object:
    """The id has no default."""
    refuse_preset("replay", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Print one line for each part of the episode; exit with 1 if one of them differs."""
    from ..replay import compare, find_episode, remake

    folder = RunFolder(options.run_dir)
    stored = find_episode(folder, options.id)
    verdicts = compare(stored, remake(folder, stored.episode))
    for verdict in verdicts:
        print(f"{verdict.name:<20} {verdict.text}")
    if not all(verdict.equal for verdict in verdicts):
        sys.exit(1)
