import time
from functools import partial

import pytest

from demoloom.storage.errors import ConfigError, DeviceError
from demoloom.teleop.controls import AxisMap
from demoloom.teleop.devices import load_settings, take_in_hand
from demoloom.teleop.devices.discovery import discover, find_device

from .fake_hid import FakeBackend, FakeDevice, WallClock, compact
from .test_descriptor import F310
from .test_reader import F310_ENTRY, LEFT_DOWN, LEFT_UP, RIGHT

PLANAR = AxisMap.from_dict({"x": "target_x", "y": "target_y"})
GRASPING = AxisMap.from_dict({"x": "target_x", "gripper": "fingers"})


def taken(*devices, settings=None, name="spacemouse"):
    """The SpaceMouse among them, with the settings in a file."""
    backend = FakeBackend(*devices, clock=WallClock())
    change = {} if settings is None else {"change": partial(load_settings, settings)}
    return take_in_hand(name, find=lambda name: find_device(name, discover([backend])), clock=backend.clock, **change)


def held_right(extra=()):
    """Pushed right for five seconds."""
    return FakeDevice(compact(), sorted([*((number / 50, RIGHT) for number in range(1, 250)), *extra]))


def looked(device, axis_map, seconds=0.4):
    """All that was commanded in that time, and the last look."""
    commands, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        grip = device.look(axis_map)
        commands += grip.commands
        time.sleep(0.01)
    return commands, grip


@pytest.mark.parametrize(("axis_map", "commands"), [(PLANAR, ["record"]), (GRASPING, [])])
def test_the_buttons_of_a_spacemouse_command_unless_they_move_a_gripper(axis_map, commands):
    device = taken(held_right([(0.2, LEFT_DOWN), (0.21, LEFT_UP)]))
    given, grip = looked(device, axis_map)
    assert given == commands
    assert (grip.axes["x"], grip.connected, grip.message) == (1.0, True, "")
    device.close()


def test_an_unplugged_device_holds_nothing_and_says_what_to_do():
    device = taken(FakeDevice(compact(), [(number / 50, RIGHT) for number in range(1, 50)], unplugged_at=0.3))
    _, grip = looked(device, PLANAR, seconds=0.6)
    device.close()
    assert (grip.axes, grip.connected) == ({}, False)
    assert "plug it in again" in grip.message


def test_a_device_that_is_gone_is_not_replaced_by_one_of_another_family():
    pad = FakeDevice(F310_ENTRY | {"path": b"/dev/hidraw7"}, descriptor=F310)
    device = taken(FakeDevice(compact(), [], unplugged_at=0.3), pad, name="any")
    # It is looked for once a second.
    _, grip = looked(device, PLANAR, seconds=1.6)
    device.close()
    assert not grip.connected


def test_a_file_changes_the_settings_of_the_family(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[shaping]\nspeed = 0.9\n")
    device = taken(held_right(), settings=path)
    device.close()
    assert device.settings.shaping.speed == 0.9
    assert device.settings.held["right"] == ("gripper", 1.0)


def test_what_is_wrong_is_said_before_anything_is_opened(tmp_path):
    with pytest.raises(DeviceError, match="no device 'spacemouse' is connected"):
        taken()
    with pytest.raises(ConfigError, match=r"none\.toml"):
        taken(held_right(), settings=tmp_path / "none.toml")
