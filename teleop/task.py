"""A task: what is to be done, in which reality, and who plays and who shows how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..storage.errors import ConfigError
from ..storage.plugins import PluginRef, load_plugin
from .axis_map import AxisMap


@dataclass(frozen=True)
class Task:
    """Everything about a task that a pipeline needs to know; register one under `demoloom.tasks`.

    Args:
        name: as registered.
        text: the instruction, as a person would say it.
        reality: the world that stands for the real robot.
        max_steps: long enough for the expert.
        play: the stream which makes interaction data, given the folder of a probe, or None before there is one.
        expert: the stream which makes demonstrations, given the folder of a probe.
        mirror: where a mirror can stand so that the task looks the same in it, seen from above: along the image's main
            diagonal (`transpose`) or along the other one (`anti-transpose`). A policy then learns from twice as many.
        retarget: the stream which carries demonstrations over to new starts, given the folder of a dataset and that of
            a probe; None where actions do not refer to one object in a plane.
        controls: what a person's axes and pointer move; None: what the names of the action's dimensions suggest.
    """

    name: str
    text: str
    reality: PluginRef
    max_steps: int
    play: Callable[[str | None], PluginRef]
    expert: Callable[[str], PluginRef]
    mirror: Literal["none", "transpose", "anti-transpose"] = "none"
    controls: AxisMap | None = None
    retarget: Callable[[str, str], PluginRef] | None = None


def load_task(name: str) -> Task:
    """The task registered as `name`, or named as `package.module:attribute`.

    Raises:
        PluginError: there is none.
        ConfigError: what is found there is no Task.
    """
    found = load_plugin("tasks", name)
    if not isinstance(found, Task):
        raise ConfigError(f"{name!r} names a {type(found).__name__}, expected a demoloom.teleop.task.Task")
    return found
