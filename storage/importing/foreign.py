"""What a file of another tool holds, and what has to be said beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import ConfigError
from .layout import ColumnRef, Layout
from .recording import Recording


@dataclass(frozen=True, kw_only=True)
class Foreign:
    """What a file of another tool holds.

    Args:
        path: of the file or folder.
        recordings: its episodes, in order.
        layout: what makes the state, the action, the cameras and the labels, if nothing else is said.
        fps: its rate in Hz; None if it does not say.
        task: what it says the task is; may be empty.
        robot_type: what it says the robot is.
        action_bounds: what its format promises of every action; None if nothing.
    """

    path: Path
    recordings: Sequence[Recording]
    layout: Layout
    fps: int | None = None
    task: str = ""
    robot_type: str = "unknown"
    action_bounds: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class ImportSettings:
    """What a file does not say, or says otherwise.

    Args:
        fps: rate in Hz; None: as the file says.
        task: the instruction; empty: as the file says.
        state: what makes the state, `key` or `key[start:stop]`; empty: what is usual in the format.
        state_from_action: the state is the action commanded before, for files without any.
        labels: label name -> `key` or `key[start:stop]`.
        cameras: camera name -> key; empty: all that the file has.
        blue_first: the frames are BGR.
        solved: every episode ends solved; for demonstrations in files that do not say.

    Raises:
        ConfigError: the state is to be made in two ways.
    """

    fps: int | None = None
    task: str = ""
    state: tuple[str, ...] = ()
    state_from_action: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    cameras: Mapping[str, str] = field(default_factory=dict)
    blue_first: bool = False
    solved: bool = False

    def __post_init__(self) -> None:
        if self.state and self.state_from_action:
            raise ConfigError(f"the state is made of {', '.join(self.state)} or of the action before, not of both")

    def applied(self, layout: Layout) -> Layout:
        """The layout with what is said here instead."""
        if self.state_from_action:
            layout = replace(layout, state=())
        elif self.state:
            layout = replace(layout, state=tuple(map(ColumnRef.parse, self.state)))
        if self.labels:
            layout = replace(layout, labels={name: ColumnRef.parse(text) for name, text in self.labels.items()})
        return replace(layout, cameras=self.cameras) if self.cameras else layout
