import numpy as np

from demoloom.teleop.pusht.geometry import GOAL, GOAL_POSE, placement_of
from demoloom.teleop.pusht.planner import DIRECTIONS, STARTS, contact_grid, plan, remaining_steps


def placements(*poses):
    return placement_of(np.array([[x, y, np.cos(angle), np.sin(angle)] for x, y, angle in poses]))


def test_the_grid_is_the_same_each_time_and_holds_between_50_and_100_pushes():
    again = contact_grid()
    assert np.array_equal(again[0], STARTS)
    assert np.array_equal(again[1], DIRECTIONS)
    assert 50 <= len(STARTS) <= 100


def test_equal_situations_lead_to_equal_moves():
    placement, agent = placements((200, 300, 1.0), (200, 300, 1.0)), np.array([[100.0, 100.0]] * 2)
    moves = plan(placement, agent)
    assert moves.target[0].tolist() == moves.target[1].tolist()


def test_a_walk_keeps_to_the_push_it_was_started_for():
    placement, agent = placements((200, 300, 1.0)), np.array([[60.0, 60.0]])
    first = plan(placement, agent)
    assert not first.is_push[0]
    nearer = plan(placement, agent + 0.3 * (first.target - agent))
    assert np.allclose(nearer.target, first.target)


def test_a_tee_just_off_the_goal_is_pushed_back_towards_it():
    off = placement_of(GOAL_POSE + np.array([8.0, 0.0, 0.0, 0.0]))[None]
    agent = np.array([[330.0, 290.0]])
    moves = plan(off, agent)
    assert (moves.target - agent)[0, 0] < 0


def test_on_the_goal_the_agent_keeps_still():
    agent = np.array([[50.0, 60.0]])
    moves = plan(GOAL[None], agent)
    assert moves.is_push[0]
    assert moves.target.tolist() == agent.tolist()


def test_the_estimate_of_the_steps_left_grows_with_the_distance():
    assert (np.diff(remaining_steps(np.arange(0.0, 200.0, 5.0))) > 0).all()
