"""Whether this person may read a device on Linux, and what to do where they may not."""

from __future__ import annotations

import os
import re
from pathlib import Path

#: Below 73-, where systemd gives devices marked `uaccess` to whoever sits at the machine.
RULES_FILE = "/etc/udev/rules.d/70-demoloom.rules"
#: Bus number of Bluetooth in the kernel's names of HID devices.
_BLUETOOTH = 0x0005
_LIBUSB_PATH = re.compile(r"(\d+-[\d.]+):\d+\.\d+")


def device_node(path: bytes, sysfs: Path = Path("/sys")) -> Path | None:
    """The file that must be readable and writable to open a device, or None where the path does not say.

    Args:
        path: as a back end lists it: `/dev/hidraw4` by hidraw, `7-6:1.0` (bus, ports, interface) by libusb.
        sysfs: where the kernel shows its devices.
    """
    text = path.decode(errors="replace")
    if text.startswith("/dev/"):
        return Path(text)
    if found := _LIBUSB_PATH.fullmatch(text):
        device = sysfs / "bus" / "usb" / "devices" / found.group(1)
        try:
            bus, number = (int((device / name).read_text()) for name in ("busnum", "devnum"))
        except (OSError, ValueError):
            return None
        return Path(f"/dev/bus/usb/{bus:03}/{number:03}")
    return None


def is_denied(node: Path) -> bool:
    """Whether the node is there and this person may not read and write it."""
    return node.exists() and not os.access(node, os.R_OK | os.W_OK)


def udev_rules(vendor_id: int, product_id: int) -> tuple[str, ...]:
    """The rules that give a device to the person at the machine: by hidraw, by libusb and over Bluetooth.

    Source: hidapi's `udev/69-hid.rules`; over Bluetooth a node has no idVendor and the kernel's name has to do.
    """
    usb, bluetooth = f"{vendor_id:04x}", f"{_BLUETOOTH:04X}:{vendor_id:04X}:{product_id:04X}.*"
    return (
        f'SUBSYSTEM=="hidraw", ATTRS{{idVendor}}=="{usb}", TAG+="uaccess"',
        f'SUBSYSTEM=="usb", ENV{{DEVTYPE}}=="usb_device", ATTR{{idVendor}}=="{usb}", TAG+="uaccess"',
        f'SUBSYSTEM=="hidraw", KERNELS=="{bluetooth}", TAG+="uaccess"',
    )


def needed_rule(node: Path, vendor_id: int, product_id: int, is_bluetooth: bool) -> str:
    """The one of the rules that gives this node to the person at the machine."""
    by_hidraw, by_libusb, over_bluetooth = udev_rules(vendor_id, product_id)
    if not node.name.startswith("hidraw"):
        return by_libusb
    return over_bluetooth if is_bluetooth else by_hidraw


def denied_sentence(product: str, node: Path, rule: str) -> str:
    """What is wrong and what to do: the rule, and the command that writes it and makes udev read it."""
    write = f"echo '{rule}' | sudo tee -a {RULES_FILE}"
    command = f"{write} && sudo udevadm control --reload && sudo udevadm trigger"
    return f"{product} is connected, but you may not open {node}; add the udev rule by `{command}` and plug it in again"
