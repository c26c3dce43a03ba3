import pytest

from demoloom.storage.errors import DeviceError
from demoloom.teleop.devices.discovery import discover, find_device

from .fake_hid import FakeBackend, FakeDevice, compact, entry

DUALSENSE = entry(0x054C, 0x0CE6, b"/dev/hidraw5", product_string="Wireless Controller", usage_page=1, usage=5)
#: An F310 switched to D, and to X.
F310 = entry(0x046D, 0xC216, b"/dev/hidraw6", product_string="Logitech Dual Action", usage_page=1, usage=4)
F310_X = entry(0x046D, 0xC21D, b"1-1:1.0", product_string="Gamepad F310")
XBOX = entry(0x045E, 0x02EA, b"1-2:1.0", product_string="Controller")
#: What is connected to many machines and is nothing to drive with.
OTHERS = [
    entry(0x046D, 0xC52B, b"/dev/hidraw0", product_string="Logitech USB Receiver Mouse", usage_page=1, usage=2),
    entry(0x256F, 0xC650, b"/dev/hidraw1", product_string="CadMouse", usage_page=1, usage=2),
    entry(0x256F, 0xC671, b"/dev/hidraw2", product_string="3Dconnexion Virtual Mouse", usage_page=1, usage=2),
    entry(0x054C, 0x1234, b"1-3:1.0", product_string="Sony camera"),
]


def connected(*entries):
    return discover([FakeBackend(*map(FakeDevice, entries))])


def denied(*entries):
    """As `connected`, for a person who may open no node."""
    return discover([FakeBackend(*map(FakeDevice, entries))], is_denied=lambda node: True)


def test_devices_are_found_whatever_they_call_themselves():
    found = connected(*OTHERS, compact(), DUALSENSE, F310)
    assert [(device.family.name, device.product) for device in found] == [
        ("spacemouse", "SpaceMouse Compact"),
        ("dualsense", "Wireless Controller"),
        ("gamepad", "Logitech Dual Action"),
    ]


def test_a_back_end_that_knows_no_usages_finds_what_is_known_by_its_ids():
    nameless = [entry(0x256F, 0xC635, b"1-1:1.0"), entry(0x054C, 0x09CC, b"1-2:1.0"), entry(0x046D, 0xC216, b"1-4:1.0")]
    found = connected(*nameless, OTHERS[3])
    assert [device.product for device in found] == [
        "spacemouse 256f:c635",
        "dualshock4 054c:09cc",
        "gamepad 046d:c216",
    ]


def test_the_interfaces_of_a_receiver_are_one_device():
    receiver = [
        entry(0x256F, 0xC652, b"/dev/hidraw%d" % n, interface_number=n, usage_page=1, usage=8) for n in range(3)
    ]
    other_collection = entry(0x256F, 0xC652, b"/dev/hidraw9", usage_page=0xFF00, usage=1)
    (device,) = connected(other_collection, *receiver)
    assert device.paths == (b"/dev/hidraw0", b"/dev/hidraw1", b"/dev/hidraw2")


def test_two_devices_of_one_kind_without_serial_numbers_are_two():
    assert len(connected(compact(b"/dev/hidraw4"), compact(b"/dev/hidraw5"))) == 2


def test_an_interface_that_is_listed_for_each_of_its_collections_is_one():
    (device,) = connected(compact(), compact())
    assert device.paths == (b"/dev/hidraw4",)


def test_the_next_back_end_is_asked_only_where_the_first_finds_nothing():
    nothing, hidraw, libusb = (FakeBackend(*map(FakeDevice, entries)) for entries in ([], [compact()], [compact()]))
    assert discover([nothing, hidraw, libusb])[0].backend is hidraw
    assert discover([nothing]) == []


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("any", "SpaceMouse Compact"),
        ("spacemouse", "SpaceMouse Compact"),
        ("dualsense", "Wireless Controller"),
        ("gamepad", "Wireless Controller"),
        ("/dev/hidraw6", "Logitech Dual Action"),
    ],
)
def test_a_device_is_named_by_family_or_by_path(name, product):
    assert find_device(name, connected(compact(), DUALSENSE, F310)).product == product


def test_a_device_that_is_not_connected_is_named_with_those_that_are():
    with pytest.raises(DeviceError, match=r"no device 'dualsense' is .*; connected: spacemouse \(/dev/hidraw4\)"):
        find_device("dualsense", connected(compact()))
    with pytest.raises(DeviceError, match="connected: none; plug it in, or name one of spacemouse, dualshock4"):
        find_device("any", [])


#: Windows shows an Xbox pad as HID too, but feeds it only while the program has a window in front.
XBOX_ON_WINDOWS = entry(
    0x045E, 0x02FF, rb"\\?\hid#vid_045e&pid_02ff&ig_00#8", product_string="Controller", usage_page=1, usage=5
)


@pytest.mark.parametrize("pad", [XBOX, F310_X, XBOX_ON_WINDOWS])
def test_a_pad_that_speaks_no_hid_is_refused_with_ways_to_use_it(pad):
    with pytest.raises(DeviceError, match=f"{pad['product_string']} speaks a protocol of its own.*in the browser"):
        find_device("gamepad", connected(pad))


def test_a_pad_that_can_be_read_is_taken_before_one_that_cannot():
    assert find_device("gamepad", connected(XBOX, F310)).product == "Logitech Dual Action"


def test_a_device_that_may_not_be_opened_says_the_rule_and_the_command():
    with pytest.raises(DeviceError, match=r'may not open /dev/hidraw4; .*"hidraw", ATTRS\{idVendor\}=="256f".*udevadm'):
        find_device("spacemouse", denied(compact()))
    with pytest.raises(DeviceError, match=r'KERNELS=="0005:256F:C635'):
        find_device("spacemouse", denied(compact(bus_type=2)))
