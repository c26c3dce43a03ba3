"""Reports marked "captured" were published by others who own the devices; the rest is computed from descriptors."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demoloom.teleop.devices.spacemouse import spacemouse_decode
from demoloom.teleop.devices.state import AT_REST

COMPACT, WIRELESS, PRO_WIRELESS, RECEIVER = 0xC635, 0xC62E, 0xC632, 0xC652

counts = st.integers(-32768, 32767)


def after(*reports, product=COMPACT):
    """The state after reports in hex, of which ignored ones change nothing."""
    decode, state = spacemouse_decode(product), AT_REST
    for report in reports:
        state = decode(bytes.fromhex(report), state) or state
    return state


def nonzero(state):
    return {axis: value for axis, value in state.axes.items() if value}


@pytest.mark.parametrize(
    ("report", "axes"),
    [
        # Captured from a SpaceNavigator (nytamin/spacemouse): pushed down, then twisted clockwise.
        ("01 00 00 00 00 34 00", {"z": 52 / 350}),
        ("02 00 00 00 00 2d 00", {"yaw": 45 / 350}),
        # Captured (PySpaceMouse, troubleshooting): x = 118, z = -6.
        ("01 76 00 00 00 fa ff", {"x": 118 / 350, "z": -6 / 350}),
        # Captured from a SpaceMouse Compact (CloudCompare, thread 2339): z = 293.
        ("01 0d 00 00 00 25 01", {"x": 13 / 350, "z": 293 / 350}),
        # A SpaceMouse Wireless: all six axes in one report, here rotation about the last.
        ("01 00 00 00 00 00 00 00 00 00 00 30 00", {"yaw": 48 / 350}),
        # What a SpaceNavigator sends when it goes beyond its own range.
        ("01 ff 7f 00 80 00 00", {"x": 1.0, "y": -1.0}),
    ],
)
def test_movement_is_read_in_both_styles(report, axes):
    assert nonzero(after(report)) == pytest.approx(axes)


@pytest.mark.parametrize(
    ("report", "product", "buttons"),
    [
        ("03 03 00", COMPACT, {"left", "right"}),
        ("03 00 00", COMPACT, set()),
        # Captured (PySpaceMouse, thread 49): a Wireless and the key 1 of a Pro Wireless, both behind a receiver.
        ("03 01 00", RECEIVER, {"left"}),
        ("03 00 10 00 00 00 00", RECEIVER, {"key_1"}),
        ("03 00 00 00 02", PRO_WIRELESS, {"control"}),
        ("03 00 00 40", PRO_WIRELESS, {"escape"}),
    ],
)
def test_buttons_are_read_however_long_the_report_is(report, product, buttons):
    assert after(report, product=product).buttons == buttons


def test_a_report_changes_nothing_that_it_does_not_speak_of():
    state = after("01 5e 01 00 00 00 00", "03 01 00", "02 00 00 00 00 5e 01")
    assert nonzero(state) == {"x": 1.0, "yaw": 1.0}
    assert state.buttons == {"left"}


@pytest.mark.parametrize("report", ["", "01", "01 00 00 00 00 00", "02 00 00", "03", "17 64 01", "99 ff ff ff"])
def test_what_is_cut_off_or_unknown_is_ignored(report):
    assert spacemouse_decode(COMPACT)(bytes.fromhex(report), AT_REST) is None


def test_a_report_that_is_longer_than_it_may_be_is_ignored_unless_padded_with_zeros():
    decode = spacemouse_decode(COMPACT)
    pushed = bytes.fromhex("01 5e 01 00 00 00 00")
    assert decode(pushed + b"\x07", AT_REST) is None
    assert nonzero(decode(pushed + bytes(3), AT_REST)) == {"x": 1.0}
    assert decode(pushed + bytes(6) + b"\x01", AT_REST) is None


def test_a_device_of_two_reports_keeps_its_rotation_when_reports_are_padded_to_the_length_of_one():
    padded = "01 5e 01" + " 00" * 20
    assert nonzero(after("02 00 00 00 00 5e 01", padded)) == {"x": 1.0, "yaw": 1.0}


@given(st.lists(st.tuples(st.sampled_from([1, 2]), st.lists(counts, min_size=3, max_size=3)), max_size=12))
def test_any_order_of_the_two_reports_ends_in_the_last_of_each(sent):
    state = after(*(struct.pack("<B3h", report_id, *values).hex() for report_id, values in sent))
    expected: dict[str, float] = {}
    for report_id, values in sent:
        names = ("x", "y", "z") if report_id == 1 else ("roll", "pitch", "yaw")
        expected |= dict(zip(names, (max(-1.0, min(1.0, value / 350)) for value in values), strict=True))
    assert dict(state.axes) == expected


@given(st.lists(st.integers(-350, 350), min_size=6, max_size=6))
def test_turning_a_deflection_round_turns_the_axis_round(values):
    there, back = (after(struct.pack("<B6h", 1, *(sign * value for value in values)).hex()) for sign in (1, -1))
    assert [-value for value in there.axes.values()] == list(back.axes.values())
    assert [round(value * 350) for value in there.axes.values()] == values
