"""What a device in the hand says, report by report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..axis_map import Axes


@dataclass(frozen=True)
class DeviceState:
    """How a device is held.

    Args:
        axes: deflections in [-1, 1] by the names in `AXES`; those that are missing are at rest.
        buttons: names of those that are held.
        ids: of the reports that have been understood since the device was opened.
    """

    axes: Axes = field(default_factory=dict)
    buttons: frozenset[str] = frozenset()
    ids: frozenset[int] = frozenset()

    def updated(self, report_id: int, axes: Axes | None = None, buttons: frozenset[str] | None = None) -> DeviceState:
        """The state after a report that says these axes and buttons, and nothing of the others."""
        return DeviceState(
            {**self.axes, **(axes or {})}, self.buttons if buttons is None else buttons, self.ids | {report_id}
        )


#: Before the first report.
AT_REST = DeviceState()

#: The state after a report (its first byte is its id) on the state before it, or None: not understood, ignored.
Decode = Callable[[bytes, DeviceState], DeviceState | None]


def is_padded(report: bytes, length: int) -> bool:
    """Whether a report is `length` bytes, or those and zeros, which Windows adds up to the device's longest report."""
    return len(report) >= length and not any(report[length:])


def held_bits(mask: int, names: Mapping[int, str]) -> frozenset[str]:
    """Names of the bits of `mask` that are set; bits without a name are passed over."""
    return frozenset(name for bit, name in names.items() if mask >> bit & 1)
