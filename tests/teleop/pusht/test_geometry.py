import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.teleop.pusht import geometry
from demoloom.teleop.pusht.geometry import (
    GOAL,
    GOAL_POSE,
    goal_distance,
    nearest_on_tee,
    placement_of,
    to_frame,
    to_world,
)

UPRIGHT = placement_of(np.array([100.0, 200.0, 1.0, 0.0]))


def test_the_shapes_are_those_of_gym_pusht():
    env = PushTReality(1)._envs[0]
    env.reset(seed=0)
    assert tuple(env.block.center_of_gravity) == tuple(geometry.GRAVITY_CENTRE)
    assert env.block.moment / env.block.mass == geometry.INERTIA
    assert env.goal_pose.tolist() == [256.0, 256.0, np.pi / 4]
    corners = {tuple(vertex) for shape in env._block_shapes for vertex in shape.get_vertices()}
    assert {tuple(corner) for corner in geometry.CORNERS + geometry.GRAVITY_CENTRE} <= corners | {(-15, 30), (15, 30)}


def test_the_centre_of_gravity_lies_45_units_down_the_stem():
    assert UPRIGHT.tolist() == [100.0, 245.0, 1.0, 0.0]


def test_a_pose_read_with_a_cos_and_sin_of_any_length_is_made_a_turn():
    assert placement_of(np.array([0.0, 0.0, 0.0, 3.0])).tolist() == [-45.0, 0.0, 0.0, 1.0]


def test_the_frame_and_the_world_are_inverse():
    point = np.array([33.0, 44.0])
    assert to_world(to_frame(point, GOAL), GOAL) == pytest.approx(point)


def test_the_goal_is_at_no_distance_from_itself_and_a_shift_is_as_far_as_it_goes():
    assert goal_distance(GOAL) == pytest.approx(0.0, abs=1e-5)
    assert goal_distance(placement_of(GOAL_POSE + np.array([3.0, 4.0, 0.0, 0.0]))) == pytest.approx(5.0)


def test_the_goal_distance_is_the_root_mean_square_over_the_corners():
    placement = placement_of(np.array([200.0, 300.0, np.cos(1.9), np.sin(1.9)]))
    apart = to_world(geometry.CORNERS, placement) - to_world(geometry.CORNERS, GOAL)
    assert goal_distance(placement) == pytest.approx(np.sqrt((apart**2).sum(axis=1).mean()))


@pytest.mark.parametrize(
    ("point", "nearest"), [((0, -100), (0, -45)), ((100, -30), (60, -30)), ((0, 90), (0, 75)), ((40, 30), (15, 30))]
)
def test_the_nearest_point_lies_on_the_side_that_faces(point, nearest):
    assert nearest_on_tee(np.array(point, float)).tolist() == list(nearest)
