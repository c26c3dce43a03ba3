"""What a person reads of devices: one line for each, and how one is held."""

from __future__ import annotations

from collections.abc import Sequence

from ..teleop.axis_map import AXES, Axes
from ..teleop.devices import FoundDevice, Reading

#: Characters of a bar on each side of its middle.
_HALF = 12


def device_lines(found: Sequence[FoundDevice]) -> list[str]:
    """Family, ids, path and name of each device, and what keeps it from being used."""
    return [
        f"{device.family.name:<10}  {device.vendor_id:04x}:{device.product_id:04x}  {device.place}  {device.product}"
        f"{'  (cannot be used, see below)' if device.obstacle else ''}"
        for device in found
    ]


def reading_lines(reading: Reading, axes: Axes, shaped: Axes) -> list[str]:
    """How a device is held.

    Args:
        reading: of it.
        axes: its deflections, those of held buttons counted in.
        shaped: the same behind dead zone and curve.
    """
    if not reading.connected:
        return [reading.message]
    lines = [_axis_line(axis, axes.get(axis, 0.0), shaped.get(axis, 0.0)) for axis in AXES]
    lines.append(f"held     {' '.join(sorted(reading.buttons)) or '-'}")
    lines.append(f"reports  {reading.num_reports} understood, {reading.num_ignored} not")
    if not reading.num_reports:
        lines.append("nothing has come yet: move it, or press a button")
    return lines


def _axis_line(axis: str, deflection: float, shaped: float) -> str:
    return f"{axis:<8} {_bar(deflection)} {deflection:+.2f}  moves at {shaped:+.2f}"


def _bar(deflection: float) -> str:
    """`[      ##|        ]`: from the middle to the deflection."""
    filled = round(abs(deflection) * _HALF)
    left, right = (filled, 0) if deflection < 0 else (0, filled)
    return f"[{'#' * left:>{_HALF}}|{'#' * right:<{_HALF}}]"
