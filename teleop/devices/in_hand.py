"""A device as whoever drives with it needs it: what it moves now, what was commanded, and whether it is there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ..axis_map import Axes, AxisMap
from .discovery import FoundDevice, find_connected
from .reader import DeviceReader
from .settings import DeviceSettings, family_settings


@dataclass(frozen=True)
class Grip:
    """A device at one moment.

    Args:
        axes: deflections, those of held buttons counted in.
        commands: what was commanded since the last look, each as often as its button was pressed.
        connected: whether the device is there; while it is not, nothing is held.
        message: why it is not there and what to do, or "".
    """

    axes: Axes
    commands: tuple[str, ...]
    connected: bool
    message: str


class DeviceInHand:
    """A device that is read until it is closed, with its settings.

    Args:
        reader: reads it.
        settings: what its buttons do and how its deflections are shaped.
    """

    def __init__(self, reader: DeviceReader, settings: DeviceSettings) -> None:
        self.settings = settings
        self.reader = reader

    def look(self, axis_map: AxisMap) -> Grip:
        """The device now, for a robot whose axes are those of `axis_map`; commands are counted from here on."""
        reading = self.reader.latest()
        commands = self.settings.commands_of(reading, axis_map)
        return Grip(self.settings.axes_of(reading), tuple(commands), reading.connected, reading.message)

    def close(self) -> None:
        """Let the device go; twice is fine."""
        self.reader.close()


def take_in_hand(
    name: str,
    change: Callable[[DeviceSettings], DeviceSettings] = lambda base: base,
    find: Callable[[str], FoundDevice] = find_connected,
    clock: Callable[[], float] = time.monotonic,
) -> DeviceInHand:
    """Begin to read a device.

    Args:
        name: `any`, a family (`spacemouse`, `gamepad`) or a path.
        change: makes the settings of the family's own, as `partial(load_settings, path)` does by a file.
        find: what is connected under a name.
        clock: seconds that only go forward.

    Raises:
        ConfigError: the settings cannot be used.
        DeviceError: no such device is connected, or it cannot be opened; the message says what to do.
    """
    family = find(name).family
    settings = change(family_settings(family))
    # Unplugged, one of its family is waited for: any other would be held otherwise.
    awaited = family.name if name == "any" else name
    return DeviceInHand(DeviceReader(lambda: find(awaited), clock).start(), settings)
