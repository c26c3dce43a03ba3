"""Devices in a person's hand, read over hidapi: SpaceMice, Sony's pads and other gamepads.

`take_in_hand("spacemouse")` reads one in a thread of its own; `look(axis_map)` is what is done with it now.
"""

from .discovery import FoundDevice, discover, find_connected, find_device
from .in_hand import DeviceInHand, Grip, take_in_hand
from .reader import DeviceReader
from .settings import DeviceSettings, family_settings, load_settings
from .track import Reading

__all__ = [
    "DeviceInHand",
    "DeviceReader",
    "DeviceSettings",
    "FoundDevice",
    "Grip",
    "Reading",
    "discover",
    "family_settings",
    "find_connected",
    "find_device",
    "load_settings",
    "take_in_hand",
]
