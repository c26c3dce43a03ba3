"""Devices in a person's hand, read over hidapi: SpaceMice, Sony's pads and other gamepads.

`open_reader("spacemouse")` reads one in a thread of its own; `reader.latest()` is what it says now.
"""

from .discovery import FoundDevice, discover, find_connected, find_device
from .reader import DeviceReader, open_reader
from .settings import DeviceSettings, family_settings, load_settings
from .track import Reading

__all__ = [
    "DeviceReader",
    "DeviceSettings",
    "FoundDevice",
    "Reading",
    "discover",
    "family_settings",
    "find_connected",
    "find_device",
    "load_settings",
    "open_reader",
]
