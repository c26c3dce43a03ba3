import math

import pytest

from demoloom.teleop.keys import MOVEMENT_KEYS, keys_to_axes

COMMAND_KEYS = {"KeyN", "KeyR", "KeyQ", "KeyZ", "KeyP", "KeyV", "Space", "Period", "ArrowLeft", "ArrowRight"}


def test_a_held_key_is_full_deflection():
    assert keys_to_axes(["KeyW"]) == {"y": -1.0}
    assert keys_to_axes(["KeyD", "KeyD"]) == {"x": 1.0}


def test_two_keys_of_one_axis_are_no_more_than_one():
    assert keys_to_axes("abc", {"a": ("x", 1.0), "b": ("x", 1.0), "c": ("x", -1.0)}) == {"x": 1.0}
    assert keys_to_axes("ab", {"a": ("x", 1.0), "b": ("x", 1.0)}) == {"x": 1.0}


def test_opposite_keys_cancel():
    assert keys_to_axes(["KeyA", "KeyD", "KeyI"]) == {"x": 0.0, "z": -1.0}


def test_a_diagonal_is_no_faster_than_a_side():
    axes = keys_to_axes(["KeyW", "KeyD", "KeyO"])
    assert math.hypot(axes["x"], axes["y"]) == pytest.approx(1.0)
    assert axes["gripper"] == 1.0


def test_keys_that_move_nothing_are_passed_over():
    assert keys_to_axes(["F5", "Space", ""]) == {}


def test_no_movement_key_is_a_command():
    assert not MOVEMENT_KEYS.keys() & COMMAND_KEYS
