import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

from demoloom.teleop.devices.access import denied_sentence, device_node, is_denied, needed_rule, udev_rules

RULE = 'SUBSYSTEM=="hidraw", ATTRS{idVendor}=="256f", TAG+="uaccess"'


def test_the_node_of_hidraw_is_its_path():
    assert device_node(b"/dev/hidraw4") == Path("/dev/hidraw4")


def test_the_node_of_libusb_is_looked_up_by_bus_and_ports(tmp_path):
    device = tmp_path / "bus/usb/devices/7-6.1"
    device.mkdir(parents=True)
    (device / "busnum").write_text("7\n")
    (device / "devnum").write_text("12\n")
    assert device_node(b"7-6.1:1.0", tmp_path) == Path("/dev/bus/usb/007/012")
    assert device_node(b"7-9:1.0", tmp_path) is None


def test_a_path_of_another_system_has_no_node():
    assert device_node(rb"\\?\hid#vid_256f&pid_c635") is None


@contextmanager
def as_nobody():
    """Root may open every node, so that nobody has to ask."""
    real, effective, _ = os.getresuid()
    if effective == 0:
        os.setreuid(65534, 0)
    yield
    if effective == 0:
        os.setreuid(real, 0)


def test_a_node_that_may_only_be_read_is_denied():
    # Not in a folder that pytest makes, into which others may not look.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        node = Path(folder) / "hidraw4"
        node.touch()
        answers = {}
        for mode in (0o444, 0o666):
            node.chmod(mode)
            with as_nobody():
                answers[mode] = is_denied(node)
    assert answers == {0o444: True, 0o666: False}


def test_a_node_that_is_gone_is_not_denied(tmp_path):
    assert not is_denied(tmp_path / "hidraw4")


def test_rules_name_the_vendor_as_udev_writes_it():
    assert udev_rules(0x256F, 0xC635) == (
        RULE,
        'SUBSYSTEM=="usb", ENV{DEVTYPE}=="usb_device", ATTR{idVendor}=="256f", TAG+="uaccess"',
        'SUBSYSTEM=="hidraw", KERNELS=="0005:256F:C635.*", TAG+="uaccess"',
    )


def test_the_rule_is_of_the_node_that_is_opened():
    by_hidraw, by_libusb, over_bluetooth = udev_rules(0x256F, 0xC635)
    assert needed_rule(Path("/dev/hidraw4"), 0x256F, 0xC635, is_bluetooth=False) == by_hidraw
    assert needed_rule(Path("/dev/hidraw4"), 0x256F, 0xC635, is_bluetooth=True) == over_bluetooth
    assert needed_rule(Path("/dev/bus/usb/007/012"), 0x256F, 0xC635, is_bluetooth=False) == by_libusb


def test_a_denied_node_is_one_sentence_with_the_rule_and_the_command():
    sentence = denied_sentence("SpaceMouse Compact", Path("/dev/hidraw4"), RULE)
    assert sentence == (
        "SpaceMouse Compact is connected, but you may not open /dev/hidraw4; add the udev rule by "
        f"`echo '{RULE}' | sudo tee -a /etc/udev/rules.d/70-demoloom.rules "
        "&& sudo udevadm control --reload && sudo udevadm trigger` and plug it in again"
    )
