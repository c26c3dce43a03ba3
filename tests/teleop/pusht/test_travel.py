import numpy as np
import pytest

from demoloom.teleop.pusht.geometry import placement_of, to_frame
from demoloom.teleop.pusht.planner import STARTS
from demoloom.teleop.pusht.travel import NODES, is_clear, routes

MIDDLE = placement_of(np.array([[256.0, 211.0, 1.0, 0.0]]))


def route(agent, goal, placement=MIDDLE):
    length, hop = routes(placement, np.array([agent], float), np.array([goal], float))
    return length[0, 0], hop[0, 0]


def test_a_line_through_the_tee_is_not_clear_and_one_beside_it_is():
    assert not is_clear(np.array([-100.0, -30.0]), np.array([100.0, -30.0]))
    assert is_clear(np.array([-100.0, -70.0]), np.array([100.0, -70.0]))


def test_where_nothing_is_in_the_way_the_way_is_straight():
    length, hop = route((-100, -100), (100, -100))
    assert length == 200.0
    assert hop.tolist() == [100.0, -100.0]


def test_the_way_to_the_other_side_goes_round_by_a_corner():
    length, hop = route((0, -100), (0, 120))
    assert 220 < length < 400
    assert hop.tolist() in NODES.tolist()


def test_a_way_that_would_leave_the_workspace_is_not_taken():
    # The T's bar lies along the left wall, so that only its right side is open.
    at_wall = placement_of(np.array([[20.0, 256.0, 0.0, -1.0]]))
    agent, goal = to_frame(np.array([30.0, 130.0]), at_wall[0]), to_frame(np.array([30.0, 380.0]), at_wall[0])
    length, _ = route(agent, goal, at_wall)
    wider = placement_of(np.array([[256.0, 256.0, 0.0, -1.0]]))
    assert length > route(agent, goal, wider)[0] + 50


def test_every_start_can_be_walked_to_from_everywhere_round_the_tee():
    for angle in np.linspace(0, 6, 13):
        lengths, _ = routes(MIDDLE, 130 * np.array([[np.cos(angle), np.sin(angle)]]), STARTS)
        assert np.isfinite(lengths).all()
        assert lengths.max() < 600


def test_an_agent_that_touches_the_tee_can_leave_it():
    length, _ = route((0, -60), (150, -60))
    assert length == pytest.approx(150)
