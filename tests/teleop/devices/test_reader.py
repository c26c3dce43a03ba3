import random
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demoloom.storage.errors import DeviceError
from demoloom.teleop.devices.discovery import discover, find_device
from demoloom.teleop.devices.reader import DeviceReader

from .fake_hid import FakeBackend, FakeDevice, WallClock, compact, entry
from .test_descriptor import F310
from .test_sony import sealed

RIGHT, REST = bytes.fromhex("015e0100000000"), bytes.fromhex("01000000000000")
TWIST, UNTWISTED = bytes.fromhex("020000000000ff"), bytes.fromhex("02000000000000")
LEFT_DOWN, LEFT_UP = bytes.fromhex("030100"), bytes.fromhex("030000")
F310_ENTRY = entry(0x046D, 0xC216, product_string="Logitech Dual Action", usage_page=1, usage=4)
DUALSENSE_ENTRY = entry(0x054C, 0x0CE6, product_string="Wireless Controller", usage_page=1, usage=5)


def opened(*devices, kind="hidraw", name="any"):
    """A reader of what is plugged in that has opened it, and its back end; nothing reads but the test."""
    backend = FakeBackend(*devices, kind=kind)
    reader = DeviceReader(lambda: find_device(name, discover([backend])), backend.clock, backend.clock.sleep)
    reader.connect()
    return reader, backend


def read_until(reader, backend, moment):
    """What the reader's thread does until then, on the stand-in's clock."""
    while backend.clock.now < moment:
        reader.step()
    return reader.latest()


def motion(seconds, phase=0.0, period=0.008):
    """A SpaceMouse Compact held right for that long: its two reports in turn, then six of rest, then silence."""
    num = int(seconds / period)
    pushed = [RIGHT if number % 2 == 0 else UNTWISTED for number in range(num)]
    return [(phase + number * period, report) for number, report in enumerate([*pushed, *[REST, UNTWISTED] * 3])]


# The table of how long a robot moves on after the hand has let go, of 3 s of motion at 125 reports a second. The rows
# of one read a step say that the stand-in queues as the systems do; the last is what a thread of its own makes of it.
@pytest.mark.parametrize(
    ("hz", "reads", "libusb_s", "hidraw_s"),
    [(10, 1, 2.7, 6.3), (15, 1, 1.8, 4.2), (30, 1, 0.9, 2.1), (10, 10, 0.3, 0.6)],
)
def test_a_reader_that_reads_once_a_step_moves_on_for_seconds(hz, reads, libusb_s, hidraw_s):
    for kind, expected in (("libusb", libusb_s), ("hidraw", hidraw_s)):
        backend = FakeBackend(FakeDevice(compact(), motion(4.0)), kind=kind)
        handle = backend.device()
        handle.open_path(b"/dev/hidraw4")
        last_right = 0.0
        for tick in range(14 * hz):
            backend.clock.wait_until(tick / hz)
            got = [bytes(handle.read(64, 1)) for _ in range(reads)]
            last_right = tick / hz if RIGHT in got else last_right
        assert last_right - 4.0 == pytest.approx(expected, rel=0.35)


@pytest.mark.parametrize("kind", ["libusb", "hidraw"])
def test_a_thread_of_its_own_stops_with_the_hand(kind):
    for seed in range(20):
        released = 4.0 + random.Random(seed).uniform(0, 0.1)
        reader, backend = opened(FakeDevice(compact(), motion(4.0, phase=released - 4.0)), kind=kind)
        assert read_until(reader, backend, released - 0.05).axes["x"] == 1.0
        assert not any(read_until(reader, backend, released + 0.05).axes.values())


@pytest.mark.parametrize("kind", ["libusb", "hidraw"])
def test_an_unplugged_device_lets_go_and_says_so(kind):
    reader, backend = opened(FakeDevice(compact(), motion(4.0), unplugged_at=2.0), kind=kind)
    assert read_until(reader, backend, 1.9).axes["x"] == 1.0
    reading = read_until(reader, backend, 2.02)
    assert (reading.axes, reading.connected) == ({}, False)
    assert reading.message.startswith("the device was unplugged or went out of range; plug it in again")
    assert backend.num_open == 0


def test_a_device_that_is_plugged_in_again_goes_on_from_rest():
    script = [(0.5, LEFT_DOWN), (0.6, RIGHT), (5.0, TWIST)]
    reader, backend = opened(FakeDevice(compact(), script, unplugged_at=1.0, plugged_at=3.0))
    read_until(reader, backend, 2.0)
    assert not reader.latest().connected
    reading = read_until(reader, backend, 4.5)
    assert (reading.connected, reading.axes, reading.buttons) == (True, {}, frozenset())
    assert read_until(reader, backend, 5.01).axes["yaw"] < 0


def test_a_device_that_falls_silent_while_pushed_has_let_go():
    # A wireless one that goes out of range says nothing any more, not even that it is gone.
    reader, backend = opened(FakeDevice(compact(), [(0.1, LEFT_DOWN), (0.2, RIGHT)]))
    assert read_until(reader, backend, 0.25).axes["x"] == 1.0
    reading = read_until(reader, backend, 0.4)
    assert reading.axes == {}
    # Its buttons are said once, when they go down.
    assert reading.buttons == {"left"}


def test_a_pad_that_says_changes_only_stays_pushed():
    pushed = bytes.fromhex("ff80808008000000")
    reader, backend = opened(FakeDevice(F310_ENTRY, [(0.1, pushed)], descriptor=F310))
    assert read_until(reader, backend, 30.0).axes["x"] == 1.0


def test_a_press_that_is_over_before_anybody_looks_is_counted():
    script = [(0.01, LEFT_DOWN), (0.02, LEFT_UP), (0.03, LEFT_DOWN), (0.04, LEFT_UP), (0.05, RIGHT)]
    reader, backend = opened(FakeDevice(compact(), script))
    reading = read_until(reader, backend, 0.1)
    assert (reading.presses, reading.buttons) == ({"left": 2}, frozenset())
    assert reader.latest().presses == {}


def test_what_is_not_understood_is_counted_and_changes_nothing():
    junk = [(0.01, RIGHT), (0.02, b"\x17\x64\x01"), (0.03, b"\x01\xff"), (0.04, RIGHT + b"\xff" * 60)]
    reader, backend = opened(FakeDevice(compact(), junk))
    reading = read_until(reader, backend, 0.06)
    assert (reading.axes["x"], reading.num_reports, reading.num_ignored) == (1.0, 1, 3)


def test_the_layout_may_change_while_a_pad_is_open():
    # A DualSense over Bluetooth, until another program asks it for its calibration.
    short = bytes.fromhex("01 ff 80 80 80 08 00 00 00 00")
    full = sealed(bytes.fromhex("31 10 80 00 80 80 00 00 05 28 00 00"))
    reader, backend = opened(FakeDevice(DUALSENSE_ENTRY, [(0.01, short), (0.02, full)]))
    assert read_until(reader, backend, 0.01).axes["x"] == 1.0
    reading = read_until(reader, backend, 0.03)
    assert (reading.axes["x"], reading.axes["y"], reading.buttons) == (0.0, -1.0, {"south"})


def receiver(number, script):
    listed = entry(0x256F, 0xC652, b"/dev/hidraw%d" % number, interface_number=number, usage_page=1, usage=8)
    return FakeDevice(listed, script)


def test_of_a_receiver_s_interfaces_the_one_that_sends_is_read_and_the_others_are_closed():
    battery = (0.5, b"\x17\x64\x01")
    reader, backend = opened(receiver(0, [battery]), receiver(1, [(1.0, RIGHT)]), receiver(2, []))
    assert backend.num_open == 3
    assert read_until(reader, backend, 0.9).connected
    assert read_until(reader, backend, 1.05).axes["x"] == 1.0
    assert backend.num_open == 1


def test_a_device_that_cannot_be_opened_says_what_may_hold_it():
    with pytest.raises(DeviceError, match="SpaceMouse Compact at /dev/hidraw4 cannot be opened; close other programs"):
        opened(FakeDevice(compact(), can_open=False))


def test_a_pad_without_a_descriptor_that_can_be_read_is_refused_and_closed():
    with pytest.raises(DeviceError, match="Logitech Dual Action at /dev/hidraw4 does not say where its sticks are"):
        opened(FakeDevice(F310_ENTRY, descriptor=b""))


def test_a_thread_reads_and_closes_what_it_reads():
    backend = FakeBackend(FakeDevice(compact(), [(0.05 * n, RIGHT) for n in range(100)]), clock=WallClock())
    before = threading.active_count()
    with DeviceReader(lambda: find_device("any", discover([backend])), backend.clock).start() as reader:
        until = time.monotonic() + 5
        while not reader.latest().axes and time.monotonic() < until:
            time.sleep(0.01)
        assert reader.latest().axes["x"] == 1.0
    reader.close()
    assert (backend.num_open, threading.active_count()) == (0, before)


def test_a_device_that_is_gone_at_the_start_is_an_error_and_leaves_no_thread():
    before = threading.active_count()
    with pytest.raises(DeviceError, match="no device 'any' is connected"):
        DeviceReader(lambda: find_device("any", discover([FakeBackend()]))).start()
    assert threading.active_count() == before


SOME_REPORTS = st.sampled_from([RIGHT, REST, TWIST, UNTWISTED, LEFT_DOWN, LEFT_UP, b"", b"\x01", b"\x99" * 64])
waits = st.floats(0.001, 0.3)


@settings(max_examples=60)
@given(st.lists(st.tuples(waits, SOME_REPORTS), max_size=30), waits, waits, st.sampled_from(["libusb", "hidraw"]))
def test_whatever_happens_nothing_is_believed_for_longer_than_the_family_s_limit(sent, unplugged, gone_for, kind):
    moments, script = 0.0, []
    for wait, report in sent:
        moments += wait
        script.append((moments, report))
    device = FakeDevice(compact(), script, unplugged_at=unplugged * 10, plugged_at=(unplugged + gone_for) * 10)
    reader, backend = opened(device, kind=kind)
    while backend.clock.now < moments + 0.5:
        reader.step()
        reading = reader.latest()
        assert not reading.axes or reading.age_s <= 0.1
        assert reading.connected or not (reading.axes or reading.buttons)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.floats(0.0005, 0.3), st.sampled_from([LEFT_DOWN, LEFT_UP, RIGHT])), max_size=30), waits)
def test_every_press_is_seen_once_however_seldom_somebody_looks(sent, looks_every):
    moments = [sum(wait for wait, _ in sent[: number + 1]) for number in range(len(sent))]
    reader, backend = opened(
        FakeDevice(compact(), [(at, report) for at, (_, report) in zip(moments, sent, strict=True)])
    )
    seen, end = 0, sum(wait for wait, _ in sent) + 0.5
    while backend.clock.now < end:
        seen += read_until(reader, backend, backend.clock.now + looks_every).presses.get("left", 0)
    buttons = "".join("d" if report == LEFT_DOWN else "u" for _, report in sent if report != RIGHT)
    assert seen == ("u" + buttons).count("ud")
