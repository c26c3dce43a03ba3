"""Layouts as in Linux' hid-playstation; the captured reports were published by others who own the devices."""

import zlib

import pytest

from demoloom.teleop.devices.sony import dualsense_decode, dualshock4_decode
from demoloom.teleop.devices.state import AT_REST

#: Sticks at rest, hat centred.
STICKS, CENTRED = "80 80 80 80", 0x08


def sealed(report):
    """A report of 78 bytes with the CRC that Bluetooth asks for."""
    body = report + bytes(74 - len(report))
    return body + zlib.crc32(b"\xa1" + body).to_bytes(4, "little")


def dualshock4_usb(sticks=STICKS, face=CENTRED, shoulders=0, last=0, pulls="00 00"):
    report = bytes.fromhex(f"01 {sticks} {face:02x} {shoulders:02x} {last:02x} {pulls}")
    return report + bytes(54)


def dualsense_usb(sticks=STICKS, face=CENTRED, shoulders=0, last=0, pulls="00 00"):
    return bytes.fromhex(f"01 {sticks} {pulls} 07 {face:02x} {shoulders:02x} {last:02x}") + bytes(53)


def both_full(sticks=STICKS, face=CENTRED, shoulders=0, last=0, pulls="00 00"):
    """The Bluetooth reports of both pads, with their decoders."""
    dualshock = dualshock4_usb(sticks, face, shoulders, last, pulls)
    dualsense = dualsense_usb(sticks, face, shoulders, last, pulls)
    return [
        (dualshock4_decode, sealed(b"\x11\xc0\x00" + dualshock[1:50])),
        (dualsense_decode, sealed(b"\x31\x10" + dualsense[1:50])),
    ]


def all_links(**held):
    short = dualshock4_usb(**held)[:10]
    return [
        (dualshock4_decode, dualshock4_usb(**held)),
        (dualshock4_decode, short),
        (dualsense_decode, dualsense_usb(**held)),
        (dualsense_decode, short),
        *both_full(**held),
    ]


NAMES = [
    "DualShock 4 USB",
    "DualShock 4 short",
    "DualSense USB",
    "DualSense short",
    "DualShock 4 full",
    "DualSense full",
]
links = pytest.mark.parametrize("link", range(6), ids=NAMES)


def state_of(link, **held):
    decode, report = all_links(**held)[link]
    return decode(report, AT_REST)


@links
def test_a_pad_at_rest_moves_nothing(link):
    state = state_of(link)
    assert set(state.axes.values()) == {0.0}
    assert state.buttons == frozenset()


@links
def test_sticks_triggers_hat_and_buttons_are_where_the_drivers_have_them(link):
    # Left stick hard right, right stick hard down, hat right, cross; R1 and start; PS; R2 half.
    state = state_of(link, sticks="ff 80 80 ff", face=0x02 | 1 << 5, shoulders=0b100010, last=1, pulls="00 80")
    assert state.axes == {"x": 1.0, "y": 0.0, "yaw": 0.0, "z": 1.0, "gripper": pytest.approx(128 / 255)}
    assert state.buttons == {"right", "south", "r1", "start", "home"}


@links
def test_left_and_up_are_negative(link):
    assert state_of(link, sticks="00 00 80 80").axes["x"] == -1.0
    assert state_of(link, sticks="80 00 80 80").axes["y"] == -1.0
    assert state_of(link, pulls="ff 00").axes["gripper"] == -1.0


@links
def test_two_buttons_at_once_are_two_buttons(link):
    assert state_of(link, face=CENTRED | 0b1001 << 4, shoulders=0b1111).buttons == {
        *("west", "north", "l1", "r1", "l2", "r2")
    }


def test_the_hat_turns_clockwise_from_the_top():
    held = ["+".join(sorted(state_of(0, face=hat).buttons)) for hat in range(9)]
    assert held == ["up", "right+up", "right", "down+right", "down", "down+left", "left", "left+up", ""]


def test_a_captured_report_of_a_dualsense_at_rest_is_inside_any_dead_zone():
    # From DJm00n/ControllersInfo, over Bluetooth.
    state = dualsense_decode(bytes.fromhex("01 82 7d 81 7e 08 00 58 00 00"), AT_REST)
    assert state is not None
    assert max(map(abs, state.axes.values())) < 0.03
    assert state.buttons == frozenset()


@pytest.mark.parametrize(("decode", "report"), both_full(sticks="ff ff ff ff"))
def test_a_report_with_a_bit_that_tipped_over_on_the_air_is_ignored(decode, report):
    assert decode(report, AT_REST).axes["x"] == 1.0
    for place in (1, 5, 40, 77):
        broken = bytearray(report)
        broken[place] ^= 4
        assert decode(bytes(broken), AT_REST) is None


@links
def test_a_report_that_is_cut_off_is_ignored_or_says_the_same(link):
    decode, report = all_links(sticks="ff ff ff ff", pulls="11 22")[link]
    # Ten bytes with the id 1 are a report of its own.
    for length in {*range(len(report))} - {10}:
        assert decode(report[:length], AT_REST) in (None, decode(report, AT_REST))


def test_a_longer_report_is_read_where_windows_pads_it_and_ignored_where_it_holds_something():
    short = dualshock4_usb()[:10]
    for decode in (dualshock4_decode, dualsense_decode):
        assert decode(short + bytes(68), AT_REST) == decode(short, AT_REST)
        assert decode(short + bytes(67) + b"\x01", AT_REST) is None
