import pytest

from demoloom.storage.errors import ConfigError
from demoloom.teleop.controls import AxisMap, Binding, Shaping
from demoloom.teleop.devices.families import DUALSENSE, SPACEMOUSE
from demoloom.teleop.devices.settings import COMMANDS, DeviceSettings, family_settings, load_settings
from demoloom.teleop.devices.track import Reading

PLANAR = AxisMap.from_dict({"x": "target_x", "y": "target_y"})
GRASPING = AxisMap.from_dict({"x": "target_x", "gripper": "fingers"})


def loaded(tmp_path, text, base=None):
    path = tmp_path / "device.toml"
    path.write_text(text)
    return load_settings(path, base or DeviceSettings())


def test_held_buttons_push_axes_within_bounds():
    settings = family_settings(SPACEMOUSE)
    assert settings.axes_of(Reading(axes={"x": 0.5}, buttons=frozenset({"right"}))) == {"x": 0.5, "gripper": 1.0}
    assert settings.axes_of(Reading(axes={"gripper": 0.5}, buttons=frozenset({"right"}))) == {"gripper": 1.0}
    assert settings.axes_of(Reading()) == {}


def test_a_command_is_given_as_often_as_its_button_was_pressed():
    settings = family_settings(DUALSENSE)
    assert settings.commands_of(Reading(presses={"l1": 2, "south": 1, "mute": 1}), PLANAR) == ["undo", "undo", "record"]


def test_a_button_that_moves_the_gripper_commands_nothing_on_a_robot_with_one():
    settings = family_settings(SPACEMOUSE)
    reading = Reading(presses={"left": 1, "escape": 1})
    assert settings.commands_of(reading, PLANAR) == ["discard", "record"]
    assert settings.commands_of(reading, GRASPING) == ["discard"]


def test_the_settings_of_each_family_command_what_a_session_knows():
    for family in (SPACEMOUSE, DUALSENSE):
        assert set(family_settings(family).commands.values()) <= set(COMMANDS)


def test_a_file_changes_what_it_says_and_leaves_the_rest(tmp_path):
    base = family_settings(SPACEMOUSE)
    settings = loaded(
        tmp_path,
        """
        [shaping]
        dead_zone = 0.2
        [held]
        left = ""
        right = ["z", -0.5]
        [commands]
        left = "redo"
        escape = ""
        [axes]
        x = { to = "target_y", scale = -1.0 }
        pointer = ["target_x", "target_y"]
        """,
        base,
    )
    assert settings.shaping == Shaping(dead_zone=0.2)
    assert settings.held == {"right": ("z", -0.5)}
    assert settings.commands == {"left": "redo", "right": "keep", "control": "undo", "alt": "redo"}
    assert settings.axes == AxisMap({"x": Binding("target_y", -1.0)}, ("target_x", "target_y"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[shape]\nspeed = 1", "device settings have the tables axes, shaping, held, commands, got 'shape'"),
        ("speed = 1", "got 'speed'"),
        ("[shaping]\nspeed = 'fast'", "speed of a person's controls must be a number, got 'fast'"),
        ("[shaping]\nspeed = -1", "speed of a person's controls must be above 0, got -1"),
        ("[shaping]\ndeadzone = 0.1", "shaping has speed, reach, dead_zone, curve, smoothing_s; got deadzone"),
        ("[held]\nleft = 'gripper'", r"button 'left' holds an axis at a deflection, such as \['gripper', 1.0\]"),
        ("[held]\nleft = ['grip', 1]", "button 'left' holds an axis .* got 'grip' at 1"),
        ("[commands]\nleft = 'jump'", "button 'left' commands one of start, record, .*, got 'jump'"),
        ("[axes]\nw = 'target_x'", "there is no axis 'w'"),
        ("[axes", "it must be a TOML file"),
    ],
)
def test_what_cannot_be_used_is_named_with_the_file(tmp_path, text, sentence):
    with pytest.raises(ConfigError, match=sentence) as caught:
        loaded(tmp_path, text)
    assert "device.toml" in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"cannot read the device settings in .*none\.toml"):
        load_settings(tmp_path / "none.toml", DeviceSettings())
