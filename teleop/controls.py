"""One person's hand on one robot: deflections and a pointer become the action of the next step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..storage.spec import EpisodeSpec
from .axis_map import AXES, Axes, AxisMap, Binding, Mode, default_axis_map
from .keys import MOVEMENT_KEYS, keys_to_axes
from .shaping import Shaping

__all__ = [
    "AXES",
    "MOVEMENT_KEYS",
    "Axes",
    "AxisMap",
    "Binding",
    "Controls",
    "Shaping",
    "default_axis_map",
    "keys_to_axes",
]


@dataclass(frozen=True)
class _Driven:
    """A dimension of the action that an axis moves."""

    axis: str
    dimension: int
    scale: float
    mode: Mode


class Controls:
    """What one person commands; keeps the target between steps.

    An action that is a position is moved from where the robot is: held still it is held, to the last bit. An action
    that is a speed is what the hand says, and rest is 0, or the middle of bounds that do not hold 0.

    Args:
        spec: of the world to drive.
        axis_map: which axis moves what; derived from the names of the action's dimensions by default.
        shaping: dead zone, curve, speed, reach and smoothing.

    Raises:
        ConfigError: the map names a dimension that the action does not have.
    """

    def __init__(self, spec: EpisodeSpec, axis_map: AxisMap | None = None, shaping: Shaping | None = None) -> None:
        self.axis_map = axis_map or default_axis_map(spec)
        self.axis_map.check(spec)
        self.shaping = shaping or Shaping()
        self._low, self._high = np.asarray(spec.action.low), np.asarray(spec.action.high)
        self._rest = np.where((self._low <= 0) & (self._high >= 0), 0.0, (self._low + self._high) / 2)
        self._state_of = _matching_state(spec)
        self._driven = [self._drive(axis, binding, spec) for axis, binding in self.axis_map.axes.items()]
        # A speed is no place: where the robot is says nothing of it.
        self._state_of[[driven.dimension for driven in self._driven if driven.mode == "rate"]] = -1
        self._pointed = [spec.action.names.index(name) for name in self.axis_map.pointer or ()]
        self._speeds = dict.fromkeys(AXES, 0.0)
        self._target = self._rest.copy()
        self._moving = False

    @property
    def moving(self) -> bool:
        """Whether the person's hand was off rest at the last command."""
        return self._moving

    def begin(self, state: np.ndarray) -> None:
        """Forget what was held; targets start at `state` (S,).

        To be called wherever the robot is suddenly elsewhere: at a start, and after going back to an earlier frame.
        """
        self._speeds = dict.fromkeys(AXES, 0.0)
        self._target, self._moving = self._rest.copy(), False
        known = self._state_of >= 0
        self._target[known] = np.clip(state[self._state_of[known]], self._low[known], self._high[known])

    def command(self, axes: Axes, pointer: Sequence[float] | None, state: np.ndarray, dt: float) -> np.ndarray:
        """The action (A,) float32, within the spec's bounds, for the next step.

        Args:
            axes: deflections now.
            pointer: a point (u, v) in [0, 1]² of the first camera's picture to go to, or None.
            state: (S,) of the robot now.
            dt: seconds that the step takes in the world.

        Raises:
            ValueError: a deflection or the pointer is not a finite number.
        """
        shaped = self.shaping.shape(axes)
        self._speeds = {axis: self.shaping.follow(self._speeds[axis], shaped[axis], dt) for axis in AXES}
        before = self._target.copy()
        for driven in self._driven:
            self._move(driven, dt)
        if pointer is not None and self._pointed:
            self._point(pointer)
        self._keep_within_reach(np.flatnonzero(self._target != before), state)
        self._target = np.clip(self._target, self._low, self._high)
        self._moving = any(shaped.values()) or (pointer is not None and bool(self._pointed))
        return self._target.astype(np.float32)

    def _drive(self, axis: str, binding: Binding, spec: EpisodeSpec) -> _Driven:
        dimension = spec.action.names.index(binding.to)
        symmetric = self._low[dimension] == -self._high[dimension]
        derived: Mode = "rate" if symmetric and self._state_of[dimension] < 0 else "absolute"
        return _Driven(axis, dimension, binding.scale, binding.mode or derived)

    def _move(self, driven: _Driven, dt: float) -> None:
        at, deflection = driven.dimension, driven.scale * self._speeds[driven.axis]
        if driven.mode == "absolute":
            self._target[at] += deflection * self.shaping.speed * dt * (self._high[at] - self._low[at])
        else:
            way = self._high[at] - self._rest[at] if deflection > 0 else self._rest[at] - self._low[at]
            self._target[at] = self._rest[at] + deflection * way

    def _point(self, pointer: Sequence[float]) -> None:
        if not np.isfinite(pointer).all():
            raise ValueError(f"the pointer is at {list(pointer)}")
        low, high = self._low[self._pointed], self._high[self._pointed]
        self._target[self._pointed] = low + np.clip(pointer, 0.0, 1.0) * (high - low)

    def _keep_within_reach(self, moved: np.ndarray, state: np.ndarray) -> None:
        """Shorten the way from the robot to a target that runs ahead, and keep its direction.

        Only of what moves: a gripper that holds something stays shut however far from shut its fingers are.
        """
        moved = moved[self._state_of[moved] >= 0]
        here, reach = state[self._state_of[moved]], self.shaping.reach * (self._high - self._low)[moved]
        ahead = self._target[moved] - here
        furthest = float(np.max(np.abs(ahead) / reach, initial=0.0))
        if furthest > 1:
            self._target[moved] = here + ahead / furthest


def _matching_state(spec: EpisodeSpec) -> np.ndarray:
    """(A,) int: which dimension of the state is the same quantity as each of the action's, -1 where none is.

    The same name says so, and so do the same bounds of all dimensions.
    """
    if (spec.state.low, spec.state.high) == (spec.action.low, spec.action.high):
        return np.arange(spec.action.size)
    places = {name: place for place, name in enumerate(spec.state.names)}
    return np.array([places.get(name, -1) for name in spec.action.names], int)
