import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demoloom.storage.errors import ConfigError
from demoloom.teleop.axis_map import AXES
from demoloom.teleop.shaping import Shaping

unit = st.floats(-1, 1)
shapings = st.builds(Shaping, dead_zone=st.floats(0, 0.5), curve=st.floats(0, 1))


def test_the_dead_zone_ends_at_zero_and_rest_is_exactly_zero():
    shape = Shaping(dead_zone=0.1, curve=0.0).shape
    assert str(shape({"z": -0.1})["z"]) == "0.0"
    assert shape({"z": 0.1001})["z"] == pytest.approx(0.0001 / 0.9, rel=1e-6)
    assert shape({"z": 0.55})["z"] == pytest.approx(0.5)


def test_the_dead_zone_of_a_stick_is_round():
    shape = Shaping(dead_zone=0.1, curve=0.0).shape
    # 0.09 in both directions is 0.127 away from rest: outside, though each by itself is inside.
    assert shape({"x": 0.09, "y": 0.09})["x"] > 0
    assert shape({"x": 0.07, "y": 0.07})["x"] == 0.0


def test_the_corner_of_a_stick_is_no_faster_than_its_side():
    shaped = Shaping().shape({"x": 1.0, "y": 1.0})
    assert math.hypot(shaped["x"], shaped["y"]) == pytest.approx(1.0)


@given(shapings, unit)
def test_a_curve_is_odd_and_reaches_full_speed(shaping, deflection):
    there, back = (shaping.shape({"z": value})["z"] for value in (deflection, -deflection))
    assert there == -back
    assert shaping.shape({"z": 1.0})["z"] == pytest.approx(1.0)
    assert abs(there) <= abs(deflection)


@given(shapings, unit, unit)
def test_a_curve_never_falls(shaping, one, other):
    low, high = sorted((one, other))
    assert shaping.shape({"z": low})["z"] <= shaping.shape({"z": high})["z"]


@given(shapings, st.dictionaries(st.sampled_from(AXES), st.floats(-3, 3)))
def test_all_axes_come_out_within_one(shaping, axes):
    shaped = shaping.shape(axes)
    assert tuple(shaped) == AXES
    assert all(abs(value) <= 1 + 1e-12 for value in shaped.values())


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"speed": 0.0}, "speed of a person's controls must be above 0, got 0"),
        ({"reach": 1.5}, "reach of a person's controls must be above 0 and at most 1, got 1.5"),
        ({"dead_zone": 1.0}, "dead_zone of a person's controls must be 0 to 0.9, got 1.0"),
        ({"curve": -0.1}, "curve of a person's controls must be 0 to 1, got -0.1"),
        ({"smoothing_s": float("nan")}, "smoothing_s of a person's controls must be 0 or more seconds, got nan"),
    ],
)
def test_a_number_out_of_its_range_is_refused(setting, sentence):
    with pytest.raises(ConfigError, match=sentence):
        Shaping(**setting)
