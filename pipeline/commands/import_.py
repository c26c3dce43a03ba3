"""`demoloom import`: episodes that another tool recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import tyro

from ..choices import Given, refuse_preset
from ..console import say, show_progress
from ..output import OutPath, Output, OutputOptions, SourcePath


@dataclass(frozen=True)
class Options:
    """Write the episodes of a foreign file as a new dataset: robomimic's HDF5, the Interactive World Simulator's HDF5
    episodes, a replay buffer of diffusion_policy (Zarr), or a LeRobot dataset of version 2.1.

    An array is named by its key in the file; `state[2:5]` are its third to fifth dimension.
    """

    source: SourcePath
    """File or folder to read."""
    out: OutPath
    """Folder to write; must not exist yet."""
    kind: Literal["robomimic", "world-simulator", "replay-buffer", "lerobot-v2.1"] | None = None
    """What wrote the file; found out by default."""
    fps: int | None = None
    """Rate in Hz, where the file does not say it."""
    task: str = ""
    """The instruction, as a person would say it, where the file does not say it."""
    state: tuple[str, ...] = ()
    """Arrays that make the state, side by side; by default what is usual in such files."""
    state_from_action: bool = False
    """Take the action commanded before for the state, for files without one."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Names of labels and the array of each."""
    cameras: Mapping[str, str] = field(default_factory=dict)
    """Names of cameras and the frames of each; by default all there are."""
    blue_first: bool = False
    """The frames are BGR, OpenCV's order."""
    solved: bool = False
    """Every episode ends solved, for demonstrations in files that do not say."""
    output: OutputOptions = field(default_factory=lambda: Output(format="lerobot"))


def default_options(given: Given) -> object:
    """The paths have no default."""
    refuse_preset("import", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Import and say how many episodes were written."""
    from ...storage.importing.foreign import ImportSettings
    from ...storage.importing.run import import_dataset

    settings = ImportSettings(
        fps=options.fps,
        task=options.task,
        state=options.state,
        state_from_action=options.state_from_action,
        labels=options.labels,
        cameras=options.cameras,
        blue_first=options.blue_first,
        solved=options.solved,
    )
    format, codec = options.output.choose_format(options.source), options.output.choose_codec()
    with show_progress("import") as progress:
        written = import_dataset(
            options.source, options.out, format, settings, kind=options.kind, codec=codec, progress=progress
        )
    say(f"wrote {written} episodes to {options.out}")
