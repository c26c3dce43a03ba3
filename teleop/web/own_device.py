"""A device of the server's own machine, in the hand of whoever has the first session."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Protocol

from ..axis_map import Axes, AxisMap
from ..devices.in_hand import Grip
from ..devices.settings import DeviceSettings

_NOTHING = Grip({}, (), True, "")


class Device(Protocol):
    """What a session needs of a `DeviceInHand`."""

    settings: DeviceSettings

    def look(self, axis_map: AxisMap) -> Grip:
        """The device now; commands are counted since the last look."""
        ...


@dataclass(frozen=True)
class News:
    """What changed since the last look.

    Args:
        commands: that were pressed, in order.
        lost: whether the device has gone since.
        message: what to tell the person, or "".
    """

    commands: tuple[str, ...] = ()
    lost: bool = False
    message: str = ""


class OwnDevice:
    """One device, which one session at a time has.

    Args:
        device: that is read.
        name: of it, for the lineage of takes.
    """

    def __init__(self, device: Device, name: str) -> None:
        self.device, self.name = device, name
        self._held_by_somebody = threading.Lock()
        self._grip = _NOTHING

    def take(self) -> bool:
        """Take it for a session; false if another has it."""
        return self._held_by_somebody.acquire(blocking=False)

    def give_back(self) -> None:
        """Let the next session have it."""
        self._held_by_somebody.release()

    @property
    def axes(self) -> Axes:
        """The deflections that are off rest, as of the last look."""
        return {axis: value for axis, value in self._grip.axes.items() if value}

    @property
    def connected(self) -> bool:
        """Whether it was there at the last look."""
        return self._grip.connected

    def look(self, axis_map: AxisMap) -> News:
        """Look at the device; what it moves is in `axes` from then on."""
        before, self._grip = self._grip, self.device.look(axis_map)
        if before.connected and not self._grip.connected:
            return News(self._grip.commands, True, f"the world stands still: {self._grip.message}")
        if not before.connected and self._grip.connected:
            return News(self._grip.commands, message=f"{self.name} is back: resume to go on, or discard the take")
        return News(self._grip.commands)
