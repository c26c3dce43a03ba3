"""Whatever comes over the wire, into each of the decoders."""

import math
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demoloom.teleop.axis_map import AXES
from demoloom.teleop.devices.gamepad import gamepad_decode
from demoloom.teleop.devices.sony import dualsense_decode, dualshock4_decode
from demoloom.teleop.devices.spacemouse import spacemouse_decode
from demoloom.teleop.devices.state import AT_REST

from .test_descriptor import DUALSENSE, F310
from .test_sony import dualsense_usb, dualshock4_usb

DECODERS: dict[str, Any] = {
    "SpaceMouse": spacemouse_decode(0xC635),
    "SpaceMouse Pro": spacemouse_decode(0xC62B),
    "DualShock 4": dualshock4_decode,
    "DualSense": dualsense_decode,
    "F310": gamepad_decode(F310),
    "pad with ids": gamepad_decode(DUALSENSE),
}
decoders = pytest.mark.parametrize("decode", DECODERS.values(), ids=DECODERS)
#: Ids that devices use, so that not all is ignored at once, and any other bytes behind them.
ids = st.sampled_from([b"", b"\x01", b"\x02", b"\x03", b"\x11", b"\x31"])
reports = st.builds(bytes.__add__, ids, st.binary(max_size=128))

#: A report of each that is at rest.
REST_OF = {
    DECODERS["SpaceMouse"]: b"\x01" + bytes(12),
    dualsense_decode: dualsense_usb(),
    dualshock4_decode: dualshock4_usb(),
    DECODERS["F310"]: bytes.fromhex("8080808008000000"),
}


@decoders
@given(st.lists(reports, max_size=8))
def test_any_bytes_are_a_state_within_bounds_or_ignored(decode, sent):
    state = AT_REST
    for report in sent:
        state = decode(report, state) or state
        assert state.axes.keys() <= set(AXES)
        assert all(math.isfinite(value) and -1 <= value <= 1 for value in state.axes.values())


@decoders
@given(st.binary(max_size=127))
def test_reports_of_ids_that_no_device_uses_are_ignored(decode, rest):
    if decode is not DECODERS["F310"]:
        assert decode(b"\x99" + rest, AT_REST) is None


def axes_after(decode, *sent):
    state = AT_REST
    for report in sent:
        state = decode(report, state) or state
    return state.axes


@given(st.lists(st.integers(-400, 400), min_size=6, max_size=6), st.integers(0, 12))
def test_a_spacemouse_s_report_that_is_cut_off_says_the_truth_or_nothing(counts, length):
    decode, whole = DECODERS["SpaceMouse"], struct.pack("<B6h", 1, *counts)
    cut = decode(whole[:length], AT_REST)
    assert cut is None or cut.axes.items() <= decode(whole, AT_REST).axes.items()


@pytest.mark.parametrize(
    ("decode", "pushed"),
    [
        (DECODERS["SpaceMouse"], bytes.fromhex("015e0100000000")),
        (DECODERS["SpaceMouse"], bytes.fromhex("01a2fe0000000000000000a2fe")),
        (dualsense_decode, dualsense_usb(sticks="ff 00 80 80")),
        (dualshock4_decode, dualshock4_usb(sticks="ff 00 80 80")),
        (DECODERS["F310"], bytes.fromhex("ff00808008000000")),
    ],
)
@given(st.binary(min_size=1, max_size=60).filter(any))
def test_a_report_with_more_behind_it_than_it_has_moves_nothing(decode, pushed, behind):
    assert axes_after(decode, pushed, REST_OF[decode] + behind) == axes_after(decode, pushed)
