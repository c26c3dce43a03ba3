"""Which action a person's hand moves: axes of whatever is held, bound to dimensions of the action."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ..storage.errors import ConfigError
from ..storage.spec import EpisodeSpec

#: Deflections in [-1, 1] by the names in `AXES`; one that is missing is at rest.
Axes = Mapping[str, float]

#: The frame of 3Dconnexion's HID reports: x to the right, y towards the person (down, on a board seen from above),
#: z down; roll, pitch and yaw are right-handed about x, y and z.
AXES = ("x", "y", "z", "roll", "pitch", "yaw", "gripper")

Mode = Literal["absolute", "rate"]

#: Which axis moves a robot's x (forward), y (left), z (up) and what turns about them; a rotation, so that signs agree.
_ROBOT_FRAME = {"x": ("y", -1.0), "y": ("x", -1.0), "z": ("z", -1.0)}
_ROBOT_FRAME |= {"roll": ("pitch", -1.0), "pitch": ("roll", -1.0), "yaw": ("yaw", -1.0), "gripper": ("gripper", 1.0)}


@dataclass(frozen=True)
class Binding:
    """What one axis does.

    Args:
        to: the name of a dimension of the action.
        scale: how much of the full speed (or rate) full deflection is; negative turns the axis round.
        mode: `absolute`: the action is a position, which the axis moves; `rate`: the action itself is a speed or a
            difference, which the axis is. None: `absolute` where the robot's state says the same quantity, or where
            the bounds are not the same on both sides of 0.
    """

    to: str
    scale: float = 1.0
    mode: Mode | None = None

    def __post_init__(self) -> None:
        if not 0 < abs(self.scale) <= 10:
            raise ConfigError(f"scale of the axis to {self.to!r} must be within ±10 and not 0, got {self.scale}")
        if self.mode not in (None, "absolute", "rate"):
            raise ConfigError(f"mode of the axis to {self.to!r} is absolute or rate, got {self.mode!r}")


@dataclass(frozen=True)
class AxisMap:
    """What each axis and the pointer do.

    Args:
        axes: by the names in `AXES`; one that is not there does nothing.
        pointer: the two dimensions of the action that a point in the first camera's picture stands for, from the
            lowest at its left and top to the highest at its right and bottom; None where it stands for none.
    """

    axes: Mapping[str, Binding]
    pointer: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        for axis in self.axes:
            if axis not in AXES:
                raise ConfigError(f"there is no axis {axis!r}{_nearest(axis, AXES)}")
        moved = [binding.to for binding in self.axes.values()]
        for dimension in moved:
            if moved.count(dimension) > 1:
                raise ConfigError(f"two axes move {dimension!r}; leave one of them out of the axis map")
        if self.pointer is not None and (len(self.pointer) != 2 or self.pointer[0] == self.pointer[1]):
            raise ConfigError(f"the pointer stands for two dimensions of the action, got {list(self.pointer)}")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AxisMap:
        """The map that plain data (of a TOML file, say) describe: axis -> name or fields of `Binding`, and `pointer`.

        Raises:
            ConfigError: an axis, a field or a value cannot be used.
        """
        axes = {axis: _binding(axis, given) for axis, given in data.items() if axis != "pointer"}
        pointer = data.get("pointer")
        if pointer is not None and not _is_texts(pointer):
            raise ConfigError(f"the pointer stands for two dimensions of the action, got {pointer!r}")
        return cls(axes, tuple(pointer) if pointer else None)

    def to_dict(self) -> dict[str, Any]:
        """Inverse of `from_dict`, as plain data for JSON."""
        axes: dict[str, Any] = {axis: asdict(binding) for axis, binding in self.axes.items()}
        return axes if self.pointer is None else {**axes, "pointer": list(self.pointer)}

    def check(self, spec: EpisodeSpec) -> None:
        """Raise ConfigError where a dimension is named that the action of `spec` does not have."""
        for name in [*(binding.to for binding in self.axes.values()), *(self.pointer or ())]:
            if name not in spec.action.names:
                raise ConfigError(f"the action has no dimension {name!r}{_nearest(name, spec.action.names)}")


def default_axis_map(spec: EpisodeSpec, frame: Literal["screen", "robot"] = "screen") -> AxisMap:
    """What the names of the action's dimensions suggest: `target_x` is moved by x; the rest by what is left, in order.

    Args:
        spec: of the world to drive.
        frame: what the names mean: `screen` (x right, y down in the picture) or `robot` (x forward, y left, z up).
    """
    named: dict[str, str] = {}
    for dimension in spec.action.names:
        word = next((word for word in re.split(r"[^a-z]+", dimension.lower()) if word in AXES), None)
        if word and word not in named:
            named[word] = dimension
    left = [dimension for dimension in spec.action.names if dimension not in named.values()]
    named |= dict(zip((axis for axis in AXES if axis not in named), left, strict=False))
    if frame == "screen":
        return AxisMap({axis: Binding(named[axis]) for axis in AXES if axis in named})
    turned = {word: _ROBOT_FRAME[word] for word in named}
    return AxisMap({axis: Binding(named[word], scale) for word, (axis, scale) in turned.items()})


def _binding(axis: str, given: Any) -> Binding:
    if isinstance(given, str):
        return Binding(given)
    try:
        return Binding(**given)
    except TypeError as error:
        raise ConfigError(
            f"axis {axis!r} takes the name of a dimension, or to, scale and mode; got {given!r}"
        ) from error


def _is_texts(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _nearest(name: str, names: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"
