"""What holds of the real modules without any device, asserted of the stand-in as well."""

import importlib.util
import sys
import types
from typing import Any

import pytest

from demoloom.storage.errors import DeviceError
from demoloom.teleop.devices.backend import load_backends

from .fake_hid import FakeBackend, FakeDevice, compact


def real_backends() -> dict[str, Any]:
    """The modules of hidapi that are there, the first to be tried first."""
    modules: Any = load_backends()
    return {module.__name__: module for module in modules}


def backends():
    return {**real_backends(), "stand-in": FakeBackend(FakeDevice(compact()))}


@pytest.mark.parametrize("name", ["hidraw", "hid", "stand-in"])
def test_a_back_end_behaves_as_its_readers_rely_on(name):
    if name not in backends():
        pytest.skip(f"hidapi has no module {name} on this system")
    backend = backends()[name]
    assert isinstance(backend.enumerate(), list)
    handle = backend.device()
    with pytest.raises(ValueError, match="not open"):
        handle.read(64, 1)
    with pytest.raises(ValueError, match="not open"):
        handle.get_report_descriptor()
    with pytest.raises(TypeError, match="expected bytes, got str"):
        handle.open_path("/dev/hidraw99")
    with pytest.raises(OSError, match="open failed"):
        handle.open_path(b"/dev/hidraw99")
    handle.close()
    handle.close()


def test_the_module_that_leaves_devices_to_the_system_is_tried_first():
    if sys.platform != "linux":
        pytest.skip("hidapi has one module on this system")
    assert list(real_backends()) == ["hidraw", "hid"]


def test_another_package_in_the_place_of_hidapi_is_named(monkeypatch):
    # The package `hid` on PyPI has a class Device and no `device`.
    other = types.ModuleType("hid_of_another_package")
    vars(other)["Device"] = object
    monkeypatch.setitem(sys.modules, "hid_of_another_package", other)
    with pytest.raises(DeviceError, match="run `pip uninstall hid`, then `pip install --force-reinstall hidapi`"):
        load_backends(["hid_of_another_package"])


def test_a_missing_hidapi_is_named():
    assert importlib.util.find_spec("no_such_module") is None
    with pytest.raises(DeviceError, match="`pip install hidapi`"):
        load_backends(["no_such_module"])


def test_the_stand_in_keeps_what_each_system_keeps():
    sent = [(0.0, bytes([1, number])) for number in range(100)]
    for kind, kept in (("libusb", range(68, 100)), ("hidraw", range(63))):
        backend = FakeBackend(FakeDevice(compact(), sent), kind=kind)
        handle = backend.device()
        handle.open_path(b"/dev/hidraw4")
        assert [handle.read(64, 1)[1] for _ in kept] == list(kept)
        assert handle.read(64, 1) == []


def test_the_stand_in_hands_out_what_was_queued_before_an_unplug_as_libusb_does():
    for kind in ("libusb", "hidraw"):
        backend = FakeBackend(FakeDevice(compact(), [(0.0, b"\1\2")], unplugged_at=1.0), kind=kind)
        handle = backend.device()
        handle.open_path(b"/dev/hidraw4")
        backend.clock.sleep(2.0)
        if kind == "libusb":
            assert handle.read(64, 1) == [1, 2]
        with pytest.raises(OSError, match="read error"):
            handle.read(64, 1)
