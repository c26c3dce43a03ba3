import numpy as np
import pytest

from demoloom.teleop.pusht.belief import Belief
from demoloom.teleop.pusht.geometry import corner_distance, placement_of

TEE = placement_of(np.array([[256.0, 211.0, 1.0, 0.0]]))  # centre of gravity at (256, 256), top of the bar at 211
AWAY = np.array([[50.0, 50.0]])


def test_the_first_reading_is_believed():
    assert np.array_equal(Belief(1).look(TEE, AWAY), TEE)


def test_readings_of_a_tee_at_rest_are_averaged():
    rng, belief = np.random.default_rng(0), Belief(1)
    for _ in range(30):
        believed = belief.look(TEE + np.array([*rng.normal(0, 2, 2), 0.0, 0.0]), AWAY)
    assert corner_distance(believed, TEE)[0] < 1.0


def test_a_tee_that_is_found_elsewhere_is_believed_there_within_a_few_looks():
    belief = Belief(1)
    belief.look(TEE, AWAY)
    moved = TEE + np.array([60.0, 0.0, 0.0, 0.0])
    for _ in range(8):
        believed = belief.look(moved, AWAY)
    assert corner_distance(believed, moved)[0] < 10


def test_the_agent_takes_the_believed_tee_along():
    belief = Belief(1)
    for _ in range(20):
        belief.look(TEE, np.array([[256.0, 190.0]]))
    believed = belief.look(TEE, np.array([[256.0, 201.0]]))
    # The disc of radius 15 at y = 201 reaches 216, five units beyond the top of the bar.
    assert believed[0, 1] == pytest.approx(261.0, abs=0.5)


def test_a_forgotten_slot_believes_its_next_reading_and_the_other_goes_on():
    belief, other = Belief(2), TEE + np.array([4.0, 0.0, 0.0, 0.0])
    both, agents = np.concatenate([TEE, TEE]), np.concatenate([AWAY, AWAY])
    for _ in range(10):
        belief.look(both, agents)
    belief.forget(0)
    believed = belief.look(np.concatenate([other, other]), agents)
    assert believed[0, 0] == 260.0
    assert 256.0 < believed[1, 0] < 257.0
