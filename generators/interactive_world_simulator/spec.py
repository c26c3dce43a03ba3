"""What a checkpoint's robot sees and is told, as an EpisodeSpec."""

from __future__ import annotations

import numpy as np

from ...storage.spec import Camera, EpisodeSpec, Vector
from .checkpoint import Checkpoint
from .config import SimulatorConfig

#: All data of the release was recorded at this rate, in Hz.
_FPS = 10
_ARMS = ("right", "left")
_PLANE = tuple(f"{arm}_{axis}" for arm in _ARMS for axis in "xy")
_GRASP = ("x", "y", "z", "gripper")
_NAMES = {
    "bimanual_push": _PLANE,
    "bimanual_sweep_v2": _PLANE,
    "single_grasp": _GRASP,
    "single_chain_in_box": _GRASP,
    "bimanual_rope": tuple(f"{arm}_{name}" for arm in _ARMS for name in _GRASP),
}


def simulator_spec(checkpoint: Checkpoint) -> EpisodeSpec:
    """Cameras as in the release's data, and actions in its units: absolute targets in metres, grippers as commanded.

    The bounds are what is scaled to -1 and 1. The networks see no state of the robot; what stands for it is the last
    command, so that its names and bounds are those of the action.
    """
    config = checkpoint.simulator.config
    ends = np.stack([(end - checkpoint.action_offset) / checkpoint.action_scale for end in (-1.0, 1.0)])
    action = Vector(_action_names(config), tuple(ends.min(0).tolist()), tuple(ends.max(0).tolist()))
    side = config.resolution
    return EpisodeSpec(
        fps=_FPS,
        cameras=tuple(Camera(name.removesuffix("_color"), side, side) for name in config.cameras),
        state=action,
        action=action,
        labels={},
        robot_type="aloha",
    )


def _action_names(config: SimulatorConfig) -> tuple[str, ...]:
    names = _NAMES.get(config.action_mode, ())
    return names if len(names) == config.action_size else tuple(f"action_{i}" for i in range(config.action_size))
