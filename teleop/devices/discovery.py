"""What is connected, and whether it can be opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...storage.errors import DeviceError
from .access import denied_sentence, device_node, is_denied, needed_rule
from .backend import Backend, load_backends
from .families import FAMILIES, Family, family_of, is_xbox_protocol

#: hidapi's number of the bus, and where hidraw shows a device that has no USB interface.
_BLUETOOTH = 2


class NotConnected(DeviceError):  # noqa: N818
    """The device that was named is not there; it may come yet."""


@dataclass(frozen=True)
class FoundDevice:
    """A device that is connected.

    Args:
        family: how it is read.
        product: its name as it says itself, or its ids where it may not be asked.
        vendor_id, product_id: of USB or Bluetooth.
        paths: of the interfaces that may be the one which sends; a receiver has several.
        backend: the module that found it and can open it.
        obstacle: why it cannot be used and what to do, or "".
    """

    family: Family
    product: str
    vendor_id: int
    product_id: int
    paths: tuple[bytes, ...]
    backend: Backend
    obstacle: str = ""

    @property
    def place(self) -> str:
        """Its first interface's path, as text."""
        return self.paths[0].decode(errors="replace")


def discover(
    backends: Sequence[Backend] | None = None, is_denied: Callable[[Path], bool] = is_denied
) -> list[FoundDevice]:
    """The devices that the first back end finds which finds any; the others would find them once more.

    Args:
        backends: those of `load_backends` by default.
        is_denied: whether this person may not open a node.

    Raises:
        DeviceError: the package `hidapi` is missing.
    """
    for backend in load_backends() if backends is None else backends:
        if found := [_found(entries, backend, is_denied) for entries in _devices(backend.enumerate())]:
            return found
    return []


def find_device(name: str, found: Sequence[FoundDevice]) -> FoundDevice:
    """The first of the devices that a name means and that can be opened.

    Args:
        name: `any`, a family's name (`gamepad` means any pad), or the path of an interface.
        found: what is connected.

    Raises:
        NotConnected: no such device is connected.
        DeviceError: it cannot be opened; the message says what to do.
    """
    meant = [device for device in found if _is_meant(device, name)]
    for device in meant:
        if not device.obstacle:
            return device
    if meant:
        raise DeviceError(meant[0].obstacle)
    others = ", ".join(f"{device.family.name} ({device.place})" for device in found)
    names = ", ".join((*FAMILIES, "any"))
    raise NotConnected(
        f"no device {name!r} is connected; connected: {others or 'none'}; plug it in, or name one of {names} or a path "
        "that `demoloom devices` lists"
    )


def find_connected(name: str) -> FoundDevice:
    """As `find_device`, of what is connected now."""
    return find_device(name, discover())


def _is_meant(device: FoundDevice, name: str) -> bool:
    is_pad = name == "gamepad" and device.family.is_pad
    return name in ("any", device.family.name) or is_pad or name.encode() in device.paths


def _devices(entries: Sequence[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """The interfaces of each device that is supported.

    Two devices of one kind may have no serial numbers; but no device has two interfaces of one number.
    """
    devices: list[list[Mapping[str, Any]]] = []
    # An interface with several collections is listed once for each.
    for entry in {entry["path"]: entry for entry in entries if family_of(entry)}.values():
        if same := next((device for device in devices if _belongs_to(entry, device)), None):
            same.append(entry)
        else:
            devices.append([entry])
    yield from devices


def _belongs_to(entry: Mapping[str, Any], device: list[Mapping[str, Any]]) -> bool:
    is_alike = all(entry.get(key) == device[0].get(key) for key in ("vendor_id", "product_id", "serial_number"))
    return is_alike and entry.get("interface_number", -1) not in [other.get("interface_number", -1) for other in device]


def _found(entries: Sequence[Mapping[str, Any]], backend: Backend, is_denied: Callable[[Path], bool]) -> FoundDevice:
    first = entries[0]
    family = family_of(first)
    assert family is not None, "_devices lists supported ones only"
    ids = f"{first['vendor_id']:04x}:{first['product_id']:04x}"
    product = first.get("product_string") or f"{family.name} {ids}"
    paths = tuple(entry["path"] for entry in entries)
    obstacle = _obstacle(product, entries, is_denied)
    return FoundDevice(family, product, first["vendor_id"], first["product_id"], paths, backend, obstacle)


def _obstacle(product: str, entries: Sequence[Mapping[str, Any]], is_denied: Callable[[Path], bool]) -> str:
    if is_xbox_protocol(entries[0]):
        return (
            f"{product} speaks a protocol of its own on its cable, which hidapi cannot read; drive with it in the "
            "browser (`demoloom teleop`), connect it over Bluetooth, or switch it to D where it has such a switch"
        )
    for entry in entries:
        node = device_node(entry["path"])
        if node is not None and is_denied(node):
            is_bluetooth = entry.get("bus_type") == _BLUETOOTH
            rule = needed_rule(node, entry["vendor_id"], entry["product_id"], is_bluetooth)
            return denied_sentence(product, node, rule)
    return ""
