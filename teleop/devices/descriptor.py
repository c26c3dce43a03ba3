"""What a HID report descriptor says of input: where each value stands in a device's reports.

A reader of the part of the HID 1.11 specification (section 6.2.2) that pads use. Of the libraries for it, hid-parser
0.1.0 does not repeat the last usage of a field (it takes the 64 bytes of a DualSense for 11, 8 of an F310 for 7) and
raises on what is cut off; hid-tools 0.12, which says the same as this reader of both, is under the GPL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

_INPUT, _COLLECTION, _END_COLLECTION = 0x8, 0xA, 0xC
_MAIN, _GLOBAL, _LOCAL = 0, 1, 2
_PUSH, _POP = 0xA, 0xB
_USAGE, _USAGE_MINIMUM, _USAGE_MAXIMUM = 0x0, 0x1, 0x2
_LONG_ITEM = 0xFE
#: Longer reports than these are nothing that a pad sends; it bounds what a broken descriptor costs.
_MOST_BITS, _MOST_VALUES, _MOST_PUSHED = 8 * 4096, 4096, 16


@dataclass(frozen=True)
class Value:
    """One value of input.

    Args:
        report_id: of the report that it is in; 0 where reports have no ids.
        bit: where it starts, counted from the report's first byte, which is its id where it has one.
        size: in bits.
        usage: usage page << 16 | usage.
        low, high: its logical bounds.
        application: usage of the application collection around it.
        absolute: whether it is a place, and not a difference.
    """

    report_id: int
    bit: int
    size: int
    usage: int
    low: int
    high: int
    application: int
    absolute: bool

    def read(self, report: bytes) -> int:
        """The value in a report that is long enough for it."""
        raw = int.from_bytes(report, "little") >> self.bit & ((1 << self.size) - 1)
        negative = self.low < 0 and raw >> (self.size - 1)
        return raw - (1 << self.size) if negative else raw


@dataclass(frozen=True)
class _Globals:
    """What holds until it is said anew."""

    page: int = 0
    low: int = 0
    high: int = 0
    size: int = 0
    count: int = 0
    report_id: int = 0


@dataclass
class _Reading:
    """Where the reader of a descriptor is."""

    globals: _Globals = field(default_factory=_Globals)
    pushed: list[_Globals] = field(default_factory=list)
    usages: list[int] = field(default_factory=list)
    minimum: int = 0
    collections: list[tuple[int, int]] = field(default_factory=list)
    #: Bits that each report has so far.
    lengths: dict[int, int] = field(default_factory=dict)
    values: list[Value] = field(default_factory=list)


@dataclass(frozen=True)
class InputReports:
    """What a device sends.

    Args:
        values: of all reports, one for each usage; padding and arrays are left out.
        lengths: bytes of each report by its id, the id counted in.
    """

    values: tuple[Value, ...]
    lengths: Mapping[int, int]


def read_descriptor(descriptor: bytes) -> InputReports:
    """The reports of input that a descriptor describes; what is broken is read as far as it can be, never for long."""
    reading = _Reading()
    for kind, tag, data in _items(descriptor):
        if kind == _MAIN:
            _main(reading, tag, int.from_bytes(data, "little"))
            reading.usages, reading.minimum = [], 0
        elif kind == _GLOBAL:
            _global(reading, tag, data)
        elif kind == _LOCAL:
            _local(reading, tag, data)
    return InputReports(tuple(reading.values), {id_: (bits + 7) // 8 for id_, bits in reading.lengths.items()})


def _items(descriptor: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Kind, tag and data of each item."""
    at = 0
    while at < len(descriptor):
        prefix = descriptor[at]
        if prefix == _LONG_ITEM:
            # Reserved for the future, and used by nobody; its second byte is its length.
            at += 3 + (descriptor[at + 1] if at + 1 < len(descriptor) else 0)
            continue
        size = (0, 1, 2, 4)[prefix & 3]
        yield prefix >> 2 & 3, prefix >> 4, descriptor[at + 1 : at + 1 + size]
        at += 1 + size


def _main(reading: _Reading, tag: int, data: int) -> None:
    if tag == _COLLECTION:
        reading.collections.append((data, reading.usages[0] if reading.usages else 0))
    elif tag == _END_COLLECTION and reading.collections:
        reading.collections.pop()
    elif tag == _INPUT:
        _input(reading, data)


def _input(reading: _Reading, flags: int) -> None:
    """Take up a field of input: its place, and its values unless it is padding (bit 0) or an array (not bit 1)."""
    state = reading.globals
    start = reading.lengths.get(state.report_id, 8 if state.report_id else 0)
    if start + state.size * state.count > _MOST_BITS:
        return
    reading.lengths[state.report_id] = start + state.size * state.count
    if flags & 1 or not flags & 2 or not reading.usages or not state.size:
        return
    application = next((usage for kind, usage in reading.collections if kind == 1), 0)
    room = min(state.count, _MOST_VALUES - len(reading.values))
    for place in range(room):
        # The last usage stands for all that are left.
        usage = reading.usages[min(place, len(reading.usages) - 1)]
        bit = start + place * state.size
        value = Value(
            state.report_id, bit, state.size, usage, state.low, state.high, application, absolute=not flags & 4
        )
        reading.values.append(value)


def _global(reading: _Reading, tag: int, data: bytes) -> None:
    unsigned, signed = int.from_bytes(data, "little"), int.from_bytes(data, "little", signed=True)
    state = reading.globals
    # Many devices write a highest value of 255 in one byte, where it means -1.
    named = {0x0: ("page", unsigned), 0x1: ("low", signed), 0x2: ("high", unsigned if state.low >= 0 else signed)}
    named |= {0x7: ("size", unsigned), 0x8: ("report_id", unsigned & 0xFF), 0x9: ("count", unsigned)}
    if tag in named:
        name, value = named[tag]
        reading.globals = replace(state, **{name: value})
    elif tag == _PUSH and len(reading.pushed) < _MOST_PUSHED:
        reading.pushed.append(state)
    elif tag == _POP and reading.pushed:
        reading.globals = reading.pushed.pop()


def _local(reading: _Reading, tag: int, data: bytes) -> None:
    value = int.from_bytes(data, "little")
    # A usage of four bytes names its page itself.
    usage = value if len(data) == 4 else reading.globals.page << 16 | value
    if tag == _USAGE:
        reading.usages.append(usage)
    elif tag == _USAGE_MINIMUM:
        reading.minimum = usage
    elif tag == _USAGE_MAXIMUM and len(reading.usages) < _MOST_VALUES:
        last = min(usage, reading.minimum + _MOST_VALUES)
        reading.usages += range(reading.minimum, last + 1)
