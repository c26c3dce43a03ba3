"""Reports of the 3Dconnexion SpaceMouse family.

Sources: the descriptors and timing in AndunHH/spacemouse, the buttons as spacenavd and PySpaceMouse have them, the
sequences of nytamin/spacemouse. Two styles are in use: translation (id 1) and rotation (id 2) in reports of their own,
or both in one (id 1, longer); length tells them apart, since models of one name differ.
"""

from __future__ import annotations

import struct

from .state import Decode, DeviceState, held_bits, is_padded

#: Full deflection by the descriptors of SpaceNavigator and SpaceMouse Wireless; some devices go beyond it.
_FULL = 350.0
_TRANSLATION, _ROTATION = ("x", "y", "z"), ("roll", "pitch", "yaw")
_TRIPLE, _SIXFOLD = 7, 13
#: The longest report of buttons that is known has 7 bytes.
_BUTTONS = 8

_FEW_BUTTONS = {0: "left", 1: "right"} | {bit: f"button_{bit + 1}" for bit in range(2, 48)}
#: Keys of SpaceMouse Pro, Pro Wireless and Enterprise; menu and fit are where smaller models have left and right.
_PRO_BUTTONS = _FEW_BUTTONS | {2: "top", 4: "view_right", 5: "front", 8: "roll_view", 10: "iso"}
_PRO_BUTTONS |= {11 + key: f"key_{key}" for key in range(1, 5)} | {11 + key: f"key_{key}" for key in range(5, 11)}
_PRO_BUTTONS |= {22: "escape", 23: "alt", 24: "shift", 25: "control", 26: "lock"}
_PRO_MODELS = {0xC62B, 0xC631, 0xC632, 0xC633, 0xC638, 0xC652}


def spacemouse_decode(product_id: int) -> Decode:
    """How reports of that model are read; models that are not known are read like the smallest."""
    names = _PRO_BUTTONS if product_id in _PRO_MODELS else _FEW_BUTTONS

    def decode(report: bytes, before: DeviceState) -> DeviceState | None:
        if not report:
            return None
        if report[0] == 3 and len(report) >= 2:
            return before.updated(3, buttons=held_bits(int.from_bytes(report[1:], "little"), names))
        axes = _axes(report, before)
        return before.updated(report[0], axes) if axes else None

    return decode


def _axes(report: bytes, before: DeviceState) -> dict[str, float] | None:
    """The axes that a report of movement says, or None."""
    if report[0] == 2 and is_padded(report, _TRIPLE):
        return _deflections(report[1:_TRIPLE], _ROTATION)
    # A device that has sent rotation on its own sends none here, though Windows may pad what it sends to this length.
    if report[0] == 1 and is_padded(report, _SIXFOLD) and 2 not in before.ids:
        return _deflections(report[1:_SIXFOLD], _TRANSLATION + _ROTATION)
    if report[0] == 1 and is_padded(report, _TRIPLE):
        return _deflections(report[1:_TRIPLE], _TRANSLATION)
    return None


def _deflections(values: bytes, names: tuple[str, ...]) -> dict[str, float]:
    counts = struct.unpack(f"<{len(names)}h", values)
    return {name: max(-1.0, min(1.0, count / _FULL)) for name, count in zip(names, counts, strict=True)}
