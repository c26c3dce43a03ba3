"""Which stream drives, and from where, as somebody names it on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...storage.errors import ConfigError
from ...storage.plugins import PluginRef
from ...teleop.inner_stream import check_arguments
from ...teleop.task import load_task
from .generate import make_expert

#: Stands for the scripted expert of the task at hand.
EXPERT = "expert"


def make_stream(name: str, settings: Mapping[str, Any], task: str, world: Path) -> PluginRef:
    """The stream that drives a learned world.

    Args:
        name: of a stream plug-in, or `expert` for the task's scripted one, here and in the settings.
        settings: its keyword arguments; what names a folder is made absolute, as workers run elsewhere.
        task: name of a task plug-in, which knows what `retarget` must know.
        world: checkpoint folder, with the probe that an expert and `retarget` see through.

    Raises:
        ConfigError: the stream takes no such settings, or the task cannot be carried over to other starts.
        PluginError: no such stream is installed.
        CheckpointError: a probe is needed, and the world has none.
    """
    given = {key: _located(value, task, world) for key, value in settings.items()}
    named = _named(name, task, world)
    stream = PluginRef("streams", named.name, {**named.kwargs, **given})
    check_arguments(stream.name, stream.kwargs)
    return stream


def _named(name: str, task: str, world: Path) -> PluginRef:
    if name == EXPERT:
        return make_expert(task, world)
    if name != "retarget":
        return PluginRef("streams", name)
    carry_over = load_task(task).retarget
    if carry_over is None:
        raise ConfigError(f"task {task!r} does not say which object its demonstrations are about; use replay instead")
    settings = dict(carry_over("", str(world / "probe")).kwargs)
    del settings["dataset"]
    return PluginRef("streams", "retarget", settings)


def _located(value: Any, task: str, world: Path) -> Any:
    """A setting with the folders in it absolute, and the task's expert in the place of its name."""
    if isinstance(value, Mapping):
        if isinstance(name := value.get("name"), str):
            inner = make_stream(name, value.get("kwargs", {}), task, world)
            return {**value, "name": inner.name, "kwargs": dict(inner.kwargs)}
        return {key: _located(entry, task, world) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_located(entry, task, world) for entry in value]
    return str(Path(value).resolve()) if isinstance(value, str) and Path(value).is_dir() else value


def starts_ref(dataset: Path) -> PluginRef:
    """Starts like those of a dataset's episodes, drawn by the seeds of the attempts."""
    settings = {"dataset": str(dataset.resolve())}
    return PluginRef("worlds", "demoloom.generators.recorded_starts:RecordedStarts", settings)
