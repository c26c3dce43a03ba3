"""Reports of gamepads that are not known by name, read by the report descriptor that each brings along."""

from __future__ import annotations

from dataclasses import dataclass

from .descriptor import InputReports, Value, read_descriptor
from .pad import hat_buttons, pad_axes, stick, trigger
from .state import Decode, DeviceState

_JOYSTICK, _GAMEPAD = 0x10004, 0x10005
_X, _Y, _Z, _RX, _RY, _RZ, _HAT = 0x10030, 0x10031, 0x10032, 0x10033, 0x10034, 0x10035, 0x10039
_ACCELERATOR, _BRAKE = 0x200C4, 0x200C5
_BUTTON_PAGE = 0x9
#: Button 1 and so on, in the order that pads with twelve or so buttons have had since DirectInput.
_BUTTONS = ("west", "south", "east", "north", "l1", "r1", "l2", "r2", "select", "start", "l3", "r3", "home")


@dataclass(frozen=True)
class _Layout:
    """Which values of a report are what; the report has `length` bytes."""

    length: int
    sticks: tuple[Value, ...]
    triggers: tuple[Value, ...]
    hats: tuple[Value, ...]
    buttons: tuple[Value, ...]

    @property
    def report_id(self) -> int:
        """Of the report that holds them; 0 where reports have no ids."""
        return self.sticks[0].report_id

    @property
    def num_bits(self) -> int:
        """Bits that a report needs for all of them."""
        return max(value.bit + value.size for value in (*self.sticks, *self.triggers, *self.hats, *self.buttons))


def gamepad_decode(descriptor: bytes) -> Decode | None:
    """How a pad with this descriptor is read, or None where it describes no pad: one stick (x, y) at least.

    The right stick is Z and Rz, where a pad has both, and Rx and Ry otherwise; what is left of those are triggers.
    """
    layout = _layout(read_descriptor(descriptor))
    if layout is None:
        return None

    def decode(report: bytes, before: DeviceState) -> DeviceState | None:
        return _read(report, layout, before)

    return decode


def _layout(reports: InputReports) -> _Layout | None:
    values = [value for value in reports.values if value.application in (_JOYSTICK, _GAMEPAD) and value.absolute]
    report_id = next((value.report_id for value in values if value.usage == _X), None)
    values = [value for value in values if value.report_id == report_id]
    found = {value.usage: value for value in reversed(values) if value.high > value.low}
    if report_id is None or not {_X, _Y} <= found.keys():
        return None
    right = next((pair for pair in ((_Z, _RZ), (_RX, _RY)) if found.keys() >= set(pair)), ())
    left_over = found.keys() - set(right)
    pulls = next((pair for pair in ((_BRAKE, _ACCELERATOR), (_RX, _RY), (_Z, _RZ)) if set(pair) <= left_over), ())
    return _Layout(
        length=reports.lengths[report_id],
        sticks=tuple(found[usage] for usage in (_X, _Y, *right)),
        triggers=tuple(found[usage] for usage in pulls),
        hats=tuple(value for value in values if value.usage == _HAT),
        buttons=tuple(value for value in values if value.usage >> 16 == _BUTTON_PAGE),
    )


def _read(report: bytes, layout: _Layout, before: DeviceState) -> DeviceState | None:
    if (layout.report_id and report[:1] != bytes([layout.report_id])) or any(report[layout.length :]):
        return None
    if 8 * len(report) < layout.num_bits:
        return None
    pushed = [stick(value.read(report), value.low, value.high) for value in layout.sticks]
    held = frozenset(_button_name(value) for value in layout.buttons if value.read(report))
    # Some hats count from 1 and are 0 in the middle.
    held |= {name for value in layout.hats for name in hat_buttons(value.read(report) - value.low)}
    right = (pushed[2], pushed[3]) if pushed[2:] else (0.0, 0.0)
    return before.updated(layout.report_id, pad_axes((pushed[0], pushed[1]), right, _pulls(report, layout, held)), held)


def _pulls(report: bytes, layout: _Layout, held: frozenset[str]) -> tuple[float, float]:
    """How far each trigger is pulled; some pads have buttons for triggers."""
    if not layout.triggers:
        return float("l2" in held), float("r2" in held)
    left, right = (trigger(value.read(report), value.low, value.high) for value in layout.triggers)
    return left, right


def _button_name(value: Value) -> str:
    number = value.usage & 0xFFFF
    return _BUTTONS[number - 1] if 1 <= number <= len(_BUTTONS) else f"button_{number}"
