"""How a device is used: which buttons move what or command what, and how its deflections are shaped."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ...storage.errors import ConfigError
from ..axis_map import AXES, AxisMap
from ..keys import keys_to_axes
from ..shaping import Shaping
from .families import SPACEMOUSE, Family
from .track import Reading

#: What a button can command; the session of `demoloom teleop` knows what they do.
COMMANDS = ("start", "record", "keep", "discard", "redo", "undo", "pause", "resume", "step", "reality")

_TABLES = ("axes", "shaping", "held", "commands")


@dataclass(frozen=True)
class DeviceSettings:
    """How a device is used.

    Args:
        shaping: dead zone, curve, speed and smoothing.
        held: button -> axis and deflection in [-1, 1], for as long as it is held.
        commands: button -> one of `COMMANDS`, each time that it is pressed. Not of a button that moves an axis which
            the robot has: on a robot with a gripper the SpaceMouse's buttons are the gripper's.
        axes: which axis moves which dimension of the action; None: as the task says.
    """

    shaping: Shaping = field(default_factory=Shaping)
    held: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    axes: AxisMap | None = None

    def __post_init__(self) -> None:
        for button, (axis, deflection) in self.held.items():
            if axis not in AXES or not -1 <= deflection <= 1:
                raise ConfigError(
                    f"button {button!r} holds an axis ({', '.join(AXES)}) at -1 to 1, got {axis!r} at {deflection}"
                )
        for button, command in self.commands.items():
            if command not in COMMANDS:
                raise ConfigError(f"button {button!r} commands one of {', '.join(COMMANDS)}, got {command!r}")

    def axes_of(self, reading: Reading) -> dict[str, float]:
        """The deflections of a reading, with those that held buttons stand for."""
        pushed = keys_to_axes(reading.buttons, self.held)
        summed = {axis: reading.axes.get(axis, 0.0) + pushed.get(axis, 0.0) for axis in {*reading.axes, *pushed}}
        return {axis: max(-1.0, min(1.0, value)) for axis, value in summed.items()}

    def commands_of(self, reading: Reading, axis_map: AxisMap) -> list[str]:
        """What was commanded since the last reading, a command as often as its button was pressed."""
        free = {button for button in self.commands if self.held.get(button, ("",))[0] not in axis_map.axes}
        pressed = [(button, times) for button, times in sorted(reading.presses.items()) if button in free]
        return [self.commands[button] for button, times in pressed for _ in range(times)]


#: The two buttons of a small SpaceMouse; larger ones have more.
_SPACEMOUSE_SETTINGS = DeviceSettings(
    held={"left": ("gripper", -1.0), "right": ("gripper", 1.0)},
    commands={"left": "record", "right": "keep", "escape": "discard", "control": "undo", "alt": "redo"},
)
_PAD_SETTINGS = DeviceSettings(
    # Worn sticks rest a tenth off their middle.
    shaping=Shaping(dead_zone=0.1),
    held={"up": ("roll", -1.0), "down": ("roll", 1.0), "left": ("pitch", 1.0), "right": ("pitch", -1.0)},
    commands={
        "south": "record",
        "north": "keep",
        "east": "discard",
        "west": "redo",
        "l1": "undo",
        "start": "pause",
        "select": "step",
    },
)


def family_settings(family: Family) -> DeviceSettings:
    """The settings that a device of that family has by itself."""
    return _SPACEMOUSE_SETTINGS if family == SPACEMOUSE else _PAD_SETTINGS


def load_settings(path: Path, base: DeviceSettings) -> DeviceSettings:
    """`base` with what a TOML file says otherwise, in the tables `axes`, `shaping`, `held` and `commands`.

    Raises:
        ConfigError: the file cannot be read, or something in it cannot be used.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read the device settings in {path} ({error}); it must be a TOML file") from error
    try:
        return settings_from(data, base)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def settings_from(data: Mapping[str, Any], base: DeviceSettings) -> DeviceSettings:
    """`base` with what plain data say otherwise; a button bound to "" does nothing any more.

    Raises:
        ConfigError: something in it cannot be used.
    """
    for name, table in data.items():
        if name not in _TABLES or not isinstance(table, Mapping):
            raise ConfigError(f"device settings have the tables {', '.join(_TABLES)}, got {name!r}")
    held = {button: _hold(button, given) for button, given in data.get("held", {}).items() if given != ""}
    unbound = {button for name in ("held", "commands") for button, given in data.get(name, {}).items() if given == ""}
    commands = {**base.commands, **data.get("commands", {})}
    return DeviceSettings(
        shaping=_shaping(data.get("shaping", {}), base.shaping),
        held={button: hold for button, hold in {**base.held, **held}.items() if button not in unbound},
        commands={button: command for button, command in commands.items() if command != ""},
        axes=AxisMap.from_dict(data["axes"]) if "axes" in data else base.axes,
    )


def _hold(button: str, given: Any) -> tuple[str, float]:
    if isinstance(given, list) and len(given) == 2 and isinstance(given[0], str) and isinstance(given[1], int | float):
        return given[0], float(given[1])
    raise ConfigError(f"button {button!r} holds an axis at a deflection, such as ['gripper', 1.0]; got {given!r}")


def _shaping(given: Mapping[str, Any], base: Shaping) -> Shaping:
    for name, value in given.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise ConfigError(f"{name} of a person's controls must be a number, got {value!r}")
    try:
        return replace(base, **given)
    except TypeError as error:
        raise ConfigError(f"shaping has {', '.join(base.__dataclass_fields__)}; got {', '.join(given)}") from error
