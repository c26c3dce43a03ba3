"""Which devices are supported, and how reports of each are read.

Ids: 3Dconnexion as spacenavd, PySpaceMouse and nytamin/spacemouse list them, Sony as Linux, other pads as SDL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .backend import Handle
from .gamepad import gamepad_decode
from .sony import dualsense_decode, dualshock4_decode
from .spacemouse import spacemouse_decode
from .state import Decode

_3DCONNEXION, _LOGITECH, _SONY, _MICROSOFT = 0x256F, 0x046D, 0x054C, 0x045E
_8BITDO = 0x2DC8

_MULTI_AXIS, _JOYSTICK, _GAMEPAD = (1, 8), (1, 4), (1, 5)
#: What a back end says where it does not look: libusb.
_UNKNOWN_USAGE = (0, 0)

#: Sold as Logitech before 3Dconnexion had a vendor id.
_EARLY_SPACEMICE = {0xC603, 0xC605, 0xC606, 0xC621, 0xC623, 0xC625, 0xC626, 0xC627, 0xC628, 0xC629, 0xC62B, 0xC640}
_SPACEMICE = {0xC62E, 0xC62F, 0xC631, 0xC632, 0xC633, 0xC635, 0xC636, 0xC638, 0xC63A, 0xC641, 0xC652, 0xC65A, 0xC65C}
_DUALSHOCK4, _DUALSENSE = {0x05C4, 0x09CC, 0x0BA0}, {0x0CE6, 0x0DF2}
_PADS = {(_LOGITECH, product) for product in (0xC216, 0xC218, 0xC219)}
_PADS |= {(_8BITDO, product) for product in (0x6000, 0x6001, 0x6003, 0x6006, 0x6009, 0x6012, 0x6100, 0x6101, 0x202F)}
#: Pads that speak Microsoft's XUSB or GIP, which is not HID: Xbox on its cable, and Logitech's switched to X.
_NOT_HID = {(_MICROSOFT, product) for product in (0x028E, 0x02D1, 0x02DD, 0x02E3, 0x02EA, 0x0B00, 0x0B12)}
_NOT_HID |= {(_LOGITECH, 0xC21D), (_LOGITECH, 0xC21F)}


@dataclass(frozen=True)
class Family:
    """Devices that are read alike.

    Args:
        name: as `--device` takes it.
        decoder: how reports are read, given the product id and the open device; None where it is no such device.
        stale_s: seconds without a report after which axes count as let go; None where a device reports changes only.
        is_pad: whether it is a gamepad.
    """

    name: str
    decoder: Callable[[int, Handle], Decode | None]
    stale_s: float | None
    is_pad: bool = True


def _by_descriptor(product_id: int, handle: Handle) -> Decode | None:
    # Older versions of hidapi cannot ask for it.
    if not hasattr(handle, "get_report_descriptor"):
        return None
    return gamepad_decode(bytes(handle.get_report_descriptor()))


#: A SpaceMouse sends every 8 to 16 ms while it is deflected, however still it is held, and three zeros at the end.
SPACEMOUSE = Family("spacemouse", lambda product_id, _: spacemouse_decode(product_id), stale_s=0.1, is_pad=False)
#: Sony's pads send every 1.25 to 4 ms.
DUALSHOCK4 = Family("dualshock4", lambda *_: dualshock4_decode, stale_s=0.25)
DUALSENSE = Family("dualsense", lambda *_: dualsense_decode, stale_s=0.25)
#: What pads of unknown make do while nothing changes is not known.
GENERIC_PAD = Family("gamepad", _by_descriptor, stale_s=None)

FAMILIES: Mapping[str, Family] = {family.name: family for family in (SPACEMOUSE, DUALSHOCK4, DUALSENSE, GENERIC_PAD)}


def family_of(entry: Mapping[str, Any]) -> Family | None:
    """The family of an interface that a back end lists, or None where it is nothing to drive with."""
    vendor, product = entry["vendor_id"], entry["product_id"]
    usage = (entry.get("usage_page", 0), entry.get("usage", 0))
    if (vendor == _3DCONNEXION and product in _SPACEMICE) or (vendor == _LOGITECH and product in _EARLY_SPACEMICE):
        return SPACEMOUSE if usage in (_MULTI_AXIS, _UNKNOWN_USAGE) else None
    if vendor == _3DCONNEXION and usage == _MULTI_AXIS:
        return SPACEMOUSE
    if usage not in (_JOYSTICK, _GAMEPAD, _UNKNOWN_USAGE):
        return None
    if vendor == _SONY and product in _DUALSHOCK4 | _DUALSENSE:
        return DUALSHOCK4 if product in _DUALSHOCK4 else DUALSENSE
    is_pad = usage in (_JOYSTICK, _GAMEPAD) or (vendor, product) in _PADS
    return GENERIC_PAD if is_pad or (vendor, product) in _NOT_HID else None


def is_xbox_protocol(entry: Mapping[str, Any]) -> bool:
    """Whether what an interface says is Microsoft's protocol; on Windows such a pad's path has IG_ in it."""
    return (entry["vendor_id"], entry["product_id"]) in _NOT_HID or b"IG_" in entry["path"].upper()
