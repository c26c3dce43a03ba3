"""The modules of the package `hidapi` that read devices, as this package needs them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

from ...storage.errors import DeviceError


class Handle(Protocol):
    """An open device, as hidapi's `device` is one; closed by the thread that reads, for hidapi forbids any other."""

    def open_path(self, path: bytes, /) -> None:
        """Open; OSError whatever the reason is."""

    def read(self, max_length: int, timeout_ms: int = 0, /) -> list[int]:
        """The next report, or [] after `timeout_ms` without one; 0 waits for ever. OSError once it is unplugged."""

    def get_report_descriptor(self) -> list[int]:
        """The bytes of the report descriptor."""

    def close(self) -> None:
        """Close; twice is fine."""


class Backend(Protocol):
    """A module that finds and opens devices: `hidraw` or `hid`."""

    def enumerate(self) -> list[dict[str, Any]]:
        """One dict for each interface: path, vendor_id, product_id, serial_number, product_string, usage_page, ..."""

    def device(self) -> Handle:
        """A device that is not open yet."""


def load_backends(names: Sequence[str] = ("hidraw", "hid")) -> tuple[Backend, ...]:
    """The modules that are there, the better first.

    `hidraw` (Linux only) leaves a device to the system's own drivers, lists devices over Bluetooth and says of each
    what it is; `hid`, which is libusb on Linux, takes the device away from the system while it is open.

    Raises:
        DeviceError: there is none, or another package has taken its place.
    """
    found, shadowed = [], False
    for name in names:
        try:
            module: Any = import_module(name)
        except ImportError:
            # Of the package `hid` too, where the C library that it loads is missing.
            continue
        if hasattr(module, "device"):
            found.append(module)
        else:
            shadowed = True
    if shadowed and not found:
        raise DeviceError(
            "the package `hid` stands in the place of `hidapi`; run `pip uninstall hid`, then "
            "`pip install --force-reinstall hidapi`"
        )
    if not found:
        raise DeviceError("devices are read through the package `hidapi`, which is missing; run `pip install hidapi`")
    return tuple(found)
