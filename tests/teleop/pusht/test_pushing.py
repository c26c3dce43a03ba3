import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.teleop.pusht.geometry import AGENT_RADIUS, nearest_on_tee, placement_of, to_frame
from demoloom.teleop.pusht.pushing import push

UPRIGHT = placement_of(np.array([[256.0, 211.0, 1.0, 0.0]]))  # centre of gravity at (256, 256)


def pushed(start, direction, length):
    starts, directions = np.array([[start]], float), np.array([[direction]], float)
    return push(UPRIGHT, starts, directions, np.array([length / 20]), 20)[-1, 0, 0]


def test_a_push_that_misses_moves_nothing():
    assert pushed((20, 20), (1, 0), 60).tolist() == UPRIGHT[0].tolist()


def test_a_push_through_the_centre_of_gravity_shifts_and_does_not_turn():
    # The bar's top lies at y = 256 - 45; the agent of radius 15 touches it at y = 196 and goes on to 226.
    assert pushed((256, 186), (0, 1), 40) == pytest.approx([256, 286, 1, 0])


def test_a_push_off_the_centre_turns_the_tee():
    _, y, _, sin = pushed((300, 186), (0, 1), 40)
    assert y > 256
    assert sin > 0.1  # clockwise on the screen, where y points down


def test_the_agent_does_not_cut_into_the_tee():
    end = pushed((300, 186), (0, 1), 60)
    local = to_frame(np.array([300.0, 246.0]), end)
    assert np.linalg.norm(local - nearest_on_tee(local)) == pytest.approx(AGENT_RADIUS, abs=0.5)


@pytest.mark.parametrize(("side", "offset"), [(0.3, 30.0), (1.7, -20.0), (2.9, 10.0), (4.4, 35.0)])
def test_a_push_ends_where_gym_pusht_ends_it(side, offset):
    direction = np.array([np.cos(side), np.sin(side)])
    start = np.array([256.0, 256.0]) + offset * np.array([-direction[1], direction[0]]) - 120 * direction
    env = PushTReality(1)._envs[0]
    env.reset(options={"reset_to_state": [*start, 256.0, 211.0, 0.0]})
    for step in range(40):
        env.step(start + direction * min(120.0, 10.0 * (step + 1)))
    (x, y), angle = env.block.position, env.block.angle
    simulated = pushed(start, direction, 120)
    real = placement_of(np.array([x, y, np.cos(angle), np.sin(angle)]))
    assert simulated[:2] == pytest.approx(real[:2], abs=1.5)
    assert simulated[2:] == pytest.approx(real[2:], abs=0.04)
