"""Which world a name given to LeRobot or Gymnasium means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...generators.learned.bundled import bundled_worlds, world_folder
from ...generators.world import World
from ...storage.errors import CheckpointError
from ...storage.plugins import PluginRef
from ...storage.spec import EpisodeSpec, read_spec
from ..task import load_task

#: Before the name of a task: the world that stands for its real robot.
REALITY = "reality:"


def world_ref(name: str, task: str | None = None, device: str = "cpu") -> PluginRef:
    """The world of that name, as plain data.

    Args:
        name: folder of a world checkpoint, the name of a world that comes with demoloom, or `reality:TASK`, which is
            what task TASK calls its reality.
        task: text of the task, for a checkpoint with several; its first by default.
        device: where a learned world predicts.

    Raises:
        CheckpointError: there is no such world.
        PluginError: there is no such task.
    """
    if name.startswith(REALITY):
        return load_task(name.removeprefix(REALITY)).reality
    folder = world_folder(name)
    if not (folder / "config.json").is_file():
        raise CheckpointError(
            f"no world at {folder}; give the folder of a world checkpoint, one of {', '.join(bundled_worlds())}, "
            f"or {REALITY}TASK"
        )
    return PluginRef("worlds", "learned", {"checkpoint": str(folder), "task": task, "device": device})


def open_world(name: str, num_envs: int, task: str | None = None, device: str = "cpu") -> World:
    """Build the world of that name with `num_envs` slots; raises as `world_ref` and the world itself do."""
    world: World = world_ref(name, task, device).build(num_envs=num_envs)
    return world


def world_spec(name: str) -> EpisodeSpec:
    """What the world of that name shows and takes, without loading its networks; without labels, as nobody sees them.

    Raises:
        CheckpointError, PluginError: as `world_ref`.
        StoreError: the checkpoint's description is damaged.
    """
    ref = world_ref(name)
    arguments: dict[str, Any] = dict(ref.kwargs)
    if "checkpoint" in arguments:
        spec = read_spec(world_folder(arguments["checkpoint"]) / "spec.json")
    else:
        spec = ref.build(num_envs=1).episode_spec
    return replace(spec, labels={})
