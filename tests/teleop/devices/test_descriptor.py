"""Descriptors as devices have them: the DualSense's from nondebug/dualsense, the F310's as published with firmware."""

from hypothesis import given
from hypothesis import strategies as st

from demoloom.teleop.devices.descriptor import read_descriptor

#: A DualSense over USB, up to its output reports: 63 bytes of input behind the id, with several fields of the maker.
DUALSENSE = bytes.fromhex(
    "05 01 09 05 a1 01 85 01 09 30 09 31 09 32 09 35 09 33 09 34 15 00 26 ff 00 75 08 95 06 81 02 06 00 ff 09 20 95 01"
    "81 02 05 01 09 39 15 00 25 07 35 00 46 3b 01 65 14 75 04 95 01 81 42 65 00 05 09 19 01 29 0f 15 00 25 01 75 01 95"
    "0f 81 02 06 00 ff 09 21 95 0d 81 02 06 00 ff 09 22 15 00 26 ff 00 75 08 95 34 81 02 85 02 09 23 95 2f 91 02 c0"
)
#: A Logitech F310 switched to D: 8 bytes without an id.
F310 = bytes.fromhex(
    "05 01 09 04 a1 01 a1 02 75 08 95 04 15 00 26 ff 00 35 00 46 ff 00 09 30 09 31 09 32 09 35 81 02 75 04 95 01 25 07"
    "46 3b 01 65 14 09 39 81 42 65 00 75 01 95 0c 25 01 45 01 05 09 19 01 29 0c 81 02 06 00 ff 75 01 95 10 25 01 45 01"
    "09 01 81 02 c0 a1 02 75 08 95 07 46 ff 00 26 ff 00 09 02 91 02 c0 c0"
)


def places(descriptor, page):
    """Usage -> (first bit, bits) of the values of a usage page."""
    values = read_descriptor(descriptor).values
    return {value.usage & 0xFFFF: (value.bit, value.size) for value in values if value.usage >> 16 == page}


def test_values_are_where_the_hand_written_layout_has_them():
    # X, Y, Z, Rz, Rx, Ry in bytes 1 to 6, the hat in the low half of byte 8, buttons from its high half on.
    assert places(DUALSENSE, 1) == {
        0x30: (8, 8), 0x31: (16, 8), 0x32: (24, 8), 0x35: (32, 8), 0x33: (40, 8), 0x34: (48, 8), 0x39: (64, 4)
    }  # fmt: skip
    assert places(DUALSENSE, 9) == {number: (67 + number, 1) for number in range(1, 16)}


def test_a_field_of_more_values_than_usages_is_counted_in_full():
    assert read_descriptor(DUALSENSE).lengths == {1: 64}
    assert read_descriptor(F310).lengths == {0: 8}


def test_reports_without_an_id_begin_with_their_first_value():
    assert places(F310, 1) == {0x30: (0, 8), 0x31: (8, 8), 0x32: (16, 8), 0x35: (24, 8), 0x39: (32, 4)}
    assert places(F310, 9)[1] == (36, 1)


def test_negative_values_are_read_with_their_sign():
    # X from -127 to 127 in one byte.
    value = read_descriptor(bytes.fromhex("05 01 09 04 a1 01 09 30 15 81 25 7f 75 08 95 01 81 02 c0")).values[0]
    assert (value.low, value.high) == (-127, 127)
    assert [value.read(bytes([byte])) for byte in (0x81, 0xFF, 0x7F)] == [-127, -1, 127]


def test_a_highest_value_of_255_in_one_byte_is_not_minus_one():
    value = read_descriptor(bytes.fromhex("05 01 09 04 a1 01 09 30 15 00 25 ff 75 08 95 01 81 02 c0")).values[0]
    assert (value.low, value.high) == (0, 255)


def test_what_was_pushed_comes_back():
    # The report size is 8, pushed, 16, popped: 8 again.
    value = read_descriptor(bytes.fromhex("05 01 75 08 95 01 15 00 25 7f a4 75 10 b4 09 30 81 02")).values[0]
    assert value.size == 8


@given(st.binary(max_size=400))
def test_no_descriptor_is_too_broken_to_be_read_to_its_end(descriptor):
    reports = read_descriptor(descriptor)
    assert len(reports.values) <= 4096
    assert all(value.bit + value.size <= 8 * 4096 for value in reports.values)


@given(st.integers(0, len(DUALSENSE)), st.binary(min_size=1, max_size=3))
def test_a_descriptor_with_a_hole_is_read_to_its_end(at, junk):
    read_descriptor(DUALSENSE[:at] + junk + DUALSENSE[at + len(junk) :])
