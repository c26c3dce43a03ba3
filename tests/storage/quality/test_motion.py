import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from demoloom.storage import Vector
from demoloom.storage.quality.motion import idle_ends, jerk, normalised, path_efficiency, saturation, speed


def path(*rows: float) -> np.ndarray:
    return np.array(rows, np.float64).reshape(len(rows), -1)


def test_a_length_of_1_is_the_range_of_a_dimension():
    vector = Vector(("mm", "rad"), (0.0, -1.0), (200.0, 1.0))
    np.testing.assert_array_equal(normalised(np.array([[100.0, 1.0]]), vector), [[0.5, 0.5]])


def test_a_dimension_without_a_range_keeps_its_unit():
    np.testing.assert_array_equal(normalised(np.array([[3.0]]), Vector(("x",), (0.0,), (0.0,))), [[3.0]])


def test_a_straight_path_has_efficiency_1():
    assert path_efficiency(np.array([[0, 0], [3, 4], [6, 8.0]])) == 1.0


def test_there_and_back_has_efficiency_0():
    assert path_efficiency(path(0, 1, 0)) == 0.0


def test_two_sides_of_a_square_have_the_efficiency_of_the_diagonal():
    assert path_efficiency(np.array([[0, 0], [1, 0], [1, 1.0]])) == pytest.approx(np.sqrt(2) / 2)


@pytest.mark.parametrize("still", [path(5), path(5, 5, 5)])
def test_a_path_that_goes_nowhere_has_efficiency_0(still):
    assert path_efficiency(still) == 0.0


@given(arrays.arrays(np.float64, (7, 3), elements=st.floats(-1e3, 1e3)))
def test_efficiency_lies_between_0_and_1(any_path):
    assert 0 <= path_efficiency(any_path) <= 1


def test_constant_acceleration_has_jerk_0():
    np.testing.assert_allclose(jerk(path(*(t**2 for t in range(6))), fps=10), 0)


def test_the_cube_of_time_has_jerk_6():
    # x = t^3 at 2 rows a second: x''' = 6, which finite differences give exactly.
    np.testing.assert_allclose(jerk(path(*((t / 2) ** 3 for t in range(6))), fps=2), [6, 6, 6])


def test_the_same_motion_has_the_same_jerk_at_any_rate():
    slow, fast = (jerk(path(*((t / fps) ** 3 for t in range(2 * fps))), fps).mean() for fps in (10, 50))
    assert slow == pytest.approx(fast)


def test_fewer_than_4_rows_have_jerk_0():
    assert jerk(path(0, 5, 1), fps=10).tolist() == [0]


def test_speed_is_that_of_the_fastest_dimension():
    assert speed(np.array([[0, 0], [0.1, -0.2], [0.1, -0.2]]), fps=10).tolist() == [2.0, 0.0]


# A step is written 1 if it is idle.
@pytest.mark.parametrize(
    ("steps", "ends"), [("1101011", (2, 2)), ("10011", (1, 2)), ("000", (0, 0)), ("111", (3, 3)), ("", (0, 0))]
)
def test_idle_ends_are_the_idle_steps_before_the_first_and_after_the_last_move(steps, ends):
    assert idle_ends(np.array([step == "1" for step in steps], bool)) == ends


def test_saturation_counts_values_at_a_bound():
    vector = Vector(("x", "y"), (0.0, 0.0), (100.0, 100.0))
    actions = np.array([[0, 50], [0.9, 50], [99.5, 50], [50, 50]], np.float32)
    assert saturation(actions, vector, margin=0.01) == 3 / 8


def test_dimensions_without_a_range_are_never_saturated():
    actions = np.array([[1.0, 7.0], [0.5, 7.0]])
    assert saturation(actions, Vector(("x", "fixed"), (0.0, 7.0), (1.0, 7.0)), margin=0.01) == 0.5
    assert saturation(actions[:, 1:], Vector(("fixed",), (7.0,), (7.0,)), margin=0.01) == 0.0
