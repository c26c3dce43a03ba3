import pytest

from demoloom.teleop.devices.gamepad import gamepad_decode
from demoloom.teleop.devices.sony import dualsense_decode
from demoloom.teleop.devices.state import AT_REST

from .test_descriptor import DUALSENSE, F310
from .test_sony import dualsense_usb

#: A mouse: relative X and Y in an application that is no pad.
MOUSE = bytes.fromhex("05 01 09 02 a1 01 09 30 09 31 15 81 25 7f 75 08 95 02 81 06 c0")


def read(descriptor, report):
    decode = gamepad_decode(descriptor)
    assert decode is not None
    return decode(report, AT_REST)


def f310(report):
    return read(F310, bytes.fromhex(report))


def test_a_pad_at_rest_moves_nothing_but_what_its_dead_zone_takes():
    state = f310("80 7f 80 7f 08 00 04 ff")
    assert max(map(abs, state.axes.values())) < 0.01
    assert state.buttons == frozenset()


def test_sticks_and_buttons_of_an_unknown_pad_are_where_its_descriptor_says():
    state = f310("ff 80 80 00 08 00 00 00")
    assert (state.axes["x"], state.axes["z"]) == (1.0, -1.0)
    # Bits from the high half of byte 4 on: buttons 1 to 4, then 5 to 12.
    assert f310("80 80 80 80 f8 00 00 00").buttons == {"west", "south", "east", "north"}
    assert f310("80 80 80 80 02 30 00 00").buttons == {"right", "select", "start"}


def test_a_pad_without_triggers_that_tell_how_far_has_two_that_are_pulled_or_not():
    assert f310("80 80 80 80 08 08 00 00").axes["gripper"] == 1.0
    # Both at once cancel, and RB does not open what both hold.
    assert f310("80 80 80 80 08 0e 00 00").axes["gripper"] == 0.0
    assert f310("80 80 80 80 08 0e 00 00").buttons == {"l2", "r2", "r1"}


@pytest.mark.parametrize("face", [0x08, 0x02, 0xF8])
def test_a_pad_read_by_its_descriptor_agrees_with_its_own_reader(face):
    report = dualsense_usb(sticks="ff 00 30 c0", face=face, shoulders=0x81, pulls="20 f0")
    own, generic = dualsense_decode(report, AT_REST), read(DUALSENSE, report)
    assert own is not None
    assert own.axes == generic.axes
    assert own.buttons == generic.buttons


def test_reports_of_another_id_or_too_short_or_too_long_are_ignored():
    report = dualsense_usb()
    for changed in (b"\x02" + report[1:], report[:9], report + b"\x01", b""):
        assert read(DUALSENSE, changed) is None


@pytest.mark.parametrize("descriptor", [b"", MOUSE, F310[:20]])
def test_what_is_no_pad_has_no_reader(descriptor):
    assert gamepad_decode(descriptor) is None
