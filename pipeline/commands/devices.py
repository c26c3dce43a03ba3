"""`demoloom devices`: what is connected to drive a robot with, and how it is held."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ...storage.errors import ConfigError
from ..choices import Given, refuse_preset
from ..console import say

_NONE = (
    "no device is connected that demoloom can read: plug in a SpaceMouse, a DualShock 4, a DualSense or another HID "
    "gamepad (a container has to be handed it, see docs/devices.md); keyboard, mouse and the gamepads that a browser "
    "knows need none of this: run `demoloom teleop`"
)
#: Seconds between two looks at a device: as often as a screen is drawn.
_LOOK_S = 1 / 20


@dataclass(frozen=True)
class Options:
    """List the devices that a person can drive with: SpaceMice and gamepads."""

    watch: bool = False
    """Show how a device is held, live, until Ctrl-C."""
    device: str = "any"
    """Which one: any, spacemouse, gamepad, dualshock4, dualsense, or a path from the list."""
    settings: Path | None = None
    """TOML file with other settings of the device, see docs/devices.md."""
    seconds: float | None = None
    """Watch for so long only."""
    rules: bool = False
    """Print the udev rules that let the person at a Linux machine open the devices that are connected."""

    def __post_init__(self) -> None:
        if self.seconds is not None and not self.seconds > 0:
            raise ConfigError(f"--seconds must be above 0, got {self.seconds}")


def default_options(given: Given) -> Options:
    """There are no presets."""
    refuse_preset("devices", given)
    return Options()


def main(options: Options) -> None:
    """List, watch, or print rules."""
    if options.watch:
        with suppress(KeyboardInterrupt):
            _watch(options)
    elif options.rules:
        _print_rules()
    else:
        _list()


def _list() -> None:
    from ...teleop.devices import discover
    from ..device_view import device_lines

    found = discover()
    for line in device_lines(found):
        print(line)
    for obstacle in dict.fromkeys(device.obstacle for device in found if device.obstacle):
        say(obstacle)
    if not found:
        say(_NONE)


def _print_rules() -> None:
    from ...teleop.devices import discover
    from ...teleop.devices.access import udev_rules

    found = discover()
    for rule in dict.fromkeys(rule for one in found for rule in udev_rules(one.vendor_id, one.product_id)):
        print(rule)
    if not found:
        say(_NONE)


def _watch(options: Options) -> None:
    from rich.live import Live
    from rich.text import Text

    from ...teleop.devices import load_settings, take_in_hand
    from ..device_view import reading_lines

    path = options.settings
    device = take_in_hand(options.device, lambda base: load_settings(path, base) if path else base)
    end = time.monotonic() + (options.seconds or float("inf"))
    say("move the device and press its buttons; Ctrl-C ends this")
    try:
        with Live(auto_refresh=False) as live:
            while time.monotonic() < end:
                reading = device.reader.latest()
                axes = device.settings.axes_of(reading)
                shaped = device.settings.shaping.shape(axes)
                live.update(Text("\n".join(reading_lines(reading, axes, shaped))), refresh=True)
                time.sleep(_LOOK_S)
    finally:
        device.close()
