"""Reports of Sony's pads, DualShock 4 and DualSense, over USB and Bluetooth.

Sources: Linux `drivers/hid/hid-playstation.c` and SDL's `SDL_hidapi_ps4.c` and `SDL_hidapi_ps5.c`. Over Bluetooth a pad
begins with short reports and changes to full ones once any program asks it for certain things; so each report is read
by its own id and length.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from .pad import hat_buttons, pad_axes, stick, trigger
from .state import DeviceState, held_bits, is_padded

_FACE = {4: "west", 5: "south", 6: "east", 7: "north"}
_SHOULDERS = {0: "l1", 1: "r1", 2: "l2", 3: "r2", 4: "select", 5: "start", 6: "l3", 7: "r3"}
_LAST = {0: "home", 1: "touchpad", 2: "mute"}

_SHORT, _USB, _FULL = 10, 64, 78


@dataclass(frozen=True)
class _Layout:
    """Where things are, counted from the left stick's x."""

    triggers: int
    buttons: int


_DUALSHOCK = _Layout(triggers=7, buttons=4)
_DUALSENSE = _Layout(triggers=4, buttons=7)


def dualshock4_decode(report: bytes, before: DeviceState) -> DeviceState | None:
    """Read a report of a DualShock 4: id 1 (USB 64 bytes, Bluetooth 10), or id 0x11 (Bluetooth, 78 bytes)."""
    if report[:1] == b"\x01" and (len(report) == _USB or is_padded(report, _SHORT)):
        return _read(report, 1, _DUALSHOCK, before)
    # The first bit of the second byte says that the rest is of sticks and buttons, not of sound.
    if report[:1] == b"\x11" and len(report) == _FULL and report[1] & 0x80 and _is_intact(report):
        return _read(report, 3, _DUALSHOCK, before)
    return None


def dualsense_decode(report: bytes, before: DeviceState) -> DeviceState | None:
    """Read a report of a DualSense: id 1 (USB 64 bytes, Bluetooth 10), or id 0x31 (Bluetooth, 78 bytes)."""
    if report[:1] == b"\x01" and len(report) == _USB:
        return _read(report, 1, _DUALSENSE, before)
    # Windows pads it to the length of the full one.
    if report[:1] == b"\x01" and len(report) in (_SHORT, _FULL) and is_padded(report, _SHORT):
        return _read(report, 1, _DUALSHOCK, before)
    if report[:1] == b"\x31" and len(report) == _FULL and _is_intact(report):
        return _read(report, 2, _DUALSENSE, before)
    return None


def _read(report: bytes, start: int, layout: _Layout, before: DeviceState) -> DeviceState:
    left_x, left_y, right_x, right_y = map(stick, report[start : start + 4])
    left_pull, right_pull = map(trigger, report[start + layout.triggers : start + layout.triggers + 2])
    face, shoulders, last = report[start + layout.buttons : start + layout.buttons + 3]
    buttons = hat_buttons(face & 0x0F) | held_bits(face, _FACE) | held_bits(shoulders, _SHOULDERS)
    axes = pad_axes((left_x, left_y), (right_x, right_y), (left_pull, right_pull))
    return before.updated(report[0], axes, buttons | held_bits(last, _LAST))


def _is_intact(report: bytes) -> bool:
    """Whether the last four bytes are the CRC-32 of the byte 0xA1 (Bluetooth's header of input) and the others."""
    return zlib.crc32(report[:-4], zlib.crc32(b"\xa1")) == int.from_bytes(report[-4:], "little")
