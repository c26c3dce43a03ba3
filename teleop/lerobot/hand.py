"""What a teleoperator's named values mean for a world: positions by name, or movements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...storage.errors import DeviceError, SpecMismatch
from ...storage.spec import EpisodeSpec
from ..controls import AxisMap, Controls, Shaping
from .names import bare

#: Where LeRobot's movements point to (x forward, y left, z up), in the frame of `demoloom.teleop.controls`.
_MOVEMENTS = {"x": ("delta_y", -1.0), "y": ("delta_x", -1.0), "z": ("delta_z", -1.0)}

#: LeRobot's gripper commands: 0 closes, 1 stays, 2 opens (`lerobot/teleoperators/gamepad/teleop_gamepad.py`).
_GRIPPER_STAYS = 1.0


def feature_names(features: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what a teleoperator gives: LeRobot describes it as {name: type}, or as one vector with names."""
    return tuple(features["names"]) if "names" in features and "shape" in features else tuple(features)


def is_movement(names: tuple[str, ...]) -> bool:
    """Whether a teleoperator says how to move (a gamepad), rather than where to be (a leader arm)."""
    return any(name.startswith("delta_") for name in names)


class Positions:
    """Each dimension of the action is where one of a teleoperator's joints is; one that says nothing is held.

    Args:
        spec: of the world to drive.
        names: of what the teleoperator gives.
        joints: dimension of the action -> the joint that gives it, for names that differ in more than `.pos`.

    Raises:
        SpecMismatch: a dimension has no joint, or a joint no dimension.
    """

    def __init__(self, spec: EpisodeSpec, names: tuple[str, ...], joints: Mapping[str, str]) -> None:
        given = {bare(name): name for name in names}
        self._joints = {dim: joints.get(dim, given.get(bare(dim), "")) for dim in spec.action.names}
        _check_joints(self._joints, names, joints)
        self._held: np.ndarray | None = None

    def begin(self, state: np.ndarray) -> None:
        """A new episode: nothing is held."""
        self._held = None

    def __call__(self, values: Mapping[str, Any], state: np.ndarray) -> np.ndarray:
        """The action (A,) float32.

        Raises:
            DeviceError: a joint has said nothing yet.
        """
        held = self._held if self._held is not None else np.full(len(self._joints), np.nan)
        read = [values.get(joint, before) for joint, before in zip(self._joints.values(), held, strict=True)]
        self._held = np.array(read, np.float64)
        silent = [joint for joint, at in zip(self._joints.values(), self._held, strict=True) if not math.isfinite(at)]
        if silent:
            raise DeviceError(f"the teleoperator gives no value of {', '.join(silent)}; check its cable and power")
        return self._held.astype(np.float32)


class Movements:
    """A teleoperator's deflections move the action as any other device in the hand does.

    Args:
        spec: of the world to drive.
        axis_map: which axis moves what; derived from the names of the action's dimensions by default.
        shaping: dead zone, curve and speed.
    """

    def __init__(self, spec: EpisodeSpec, axis_map: AxisMap | None, shaping: Shaping | None) -> None:
        self._controls, self._dt = Controls(spec, axis_map, shaping), 1 / spec.fps

    def begin(self, state: np.ndarray) -> None:
        """A new episode: targets start where the robot is."""
        self._controls.begin(state)

    def __call__(self, values: Mapping[str, Any], state: np.ndarray) -> np.ndarray:
        """The action (A,) float32."""
        axes = {axis: sign * float(values.get(name, 0.0)) for axis, (name, sign) in _MOVEMENTS.items()}
        axes["gripper"] = float(values.get("gripper", _GRIPPER_STAYS)) - _GRIPPER_STAYS
        return self._controls.command(axes, None, state, self._dt)


def _check_joints(found: Mapping[str, str], names: tuple[str, ...], asked: Mapping[str, str]) -> None:
    """Raise SpecMismatch unless each dimension has one of the teleoperator's joints, and each joint a dimension."""
    both = f"the teleoperator gives {', '.join(names)} and the world takes {', '.join(found)}"
    if unmatched := [dim for dim, joint in found.items() if joint not in names] or [*(asked.keys() - found.keys())]:
        raise SpecMismatch(f"{both}; name the joint of {', '.join(unmatched)} in the mapping `joints`")
    if spare := [name for name in names if name not in found.values()]:
        raise SpecMismatch(f"{both}: {', '.join(spare)} would move nothing; drive a world of the same robot")
