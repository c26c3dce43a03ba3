import sys

import pytest

from demoloom.pipeline.cli import main
from demoloom.teleop.devices import families

from ..teleop.devices.fake_hid import FakeBackend, FakeDevice, WallClock, compact, entry
from ..teleop.devices.test_reader import LEFT_DOWN, RIGHT

XBOX = entry(0x045E, 0x02EA, b"1-2:1.0", product_string="Controller")


@pytest.fixture
def plugged(monkeypatch):
    """Plugs devices into the machine: hidapi's modules are replaced by a stand-in that has them."""

    def plug(*devices):
        backend = FakeBackend(*devices, clock=WallClock())
        monkeypatch.setitem(sys.modules, "hidraw", backend)
        monkeypatch.setitem(sys.modules, "hid", FakeBackend())

    return plug


def test_devices_are_listed_with_what_keeps_them_from_being_used(plugged, capsys):
    plugged(FakeDevice(compact()), FakeDevice(XBOX))
    assert main(["devices"]) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "spacemouse  256f:c635  /dev/hidraw4  SpaceMouse Compact",
        "gamepad     045e:02ea  1-2:1.0  Controller  (cannot be used, see below)",
    ]
    assert printed.err.startswith("Controller speaks a protocol of its own on its cable")


def test_without_a_device_it_says_what_could_be_plugged_in(plugged, capsys):
    plugged()
    assert main(["devices"]) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "plug in a SpaceMouse" in printed.err


def test_rules_are_printed_so_that_they_can_be_written_to_a_file(plugged, capsys):
    plugged(FakeDevice(compact(b"/dev/hidraw4")), FakeDevice(compact(b"/dev/hidraw5")))
    assert main(["devices", "--rules"]) == 0
    rules = capsys.readouterr().out.splitlines()
    assert rules[0] == 'SUBSYSTEM=="hidraw", ATTRS{idVendor}=="256f", TAG+="uaccess"'
    assert len(rules) == len(set(rules)) == 3


def test_watching_shows_how_a_device_is_held(plugged, capsys):
    plugged(FakeDevice(compact(), [(0.02, LEFT_DOWN), *((number / 50, RIGHT) for number in range(2, 250))]))
    assert main(["devices", "--watch", "--seconds", "0.5"]) == 0
    shown = capsys.readouterr().out
    assert f"x        [{' ' * 12}|{'#' * 12}] +1.00  moves at +1.00" in shown
    assert "gripper  [############|            ] -1.00" in shown
    assert "held     left" in shown


def test_watching_without_a_device_ends_in_one_sentence(plugged, capsys):
    plugged()
    assert main(["devices", "--watch", "--device", "spacemouse"]) == 2
    assert "no device 'spacemouse' is connected" in capsys.readouterr().err


def test_watching_for_no_time_is_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["devices", "--watch", "--seconds", "0"])
    assert "--seconds must be above 0, got 0" in capsys.readouterr().err


def test_the_help_names_every_family(capsys):
    with pytest.raises(SystemExit):
        main(["devices", "--help"])
    shown = capsys.readouterr().out
    assert [name for name in families.FAMILIES if name not in shown] == []
