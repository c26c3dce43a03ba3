"""Whatever comes over the wire, into each of the decoders."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demoloom.teleop.axis_map import AXES
from demoloom.teleop.devices.gamepad import gamepad_decode
from demoloom.teleop.devices.sony import dualsense_decode, dualshock4_decode
from demoloom.teleop.devices.spacemouse import spacemouse_decode
from demoloom.teleop.devices.state import AT_REST

from .test_descriptor import DUALSENSE, F310

DECODERS = {
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
