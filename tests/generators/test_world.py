import numpy as np
import pytest

from demoloom.generators.testing import CountingWorld, WorldContract
from demoloom.generators.world import as_seeds, bounded_actions, reset_mask


class TestCountingWorld(WorldContract):
    def make(self, num_envs):
        return CountingWorld(num_envs)


def test_a_world_starts_from_a_given_observation():
    world = CountingWorld(2)
    start = {"observation.state": np.array([[3.0], [4.5]], np.float32)}
    observation, _ = world.reset(seed=0, options={"start": start})
    assert observation["observation.state"].tolist() == [[3.0], [4.5]]


def test_one_seed_means_consecutive_seeds():
    assert as_seeds(5, 3) == [5, 6, 7]
    assert as_seeds(None, 2) == [None, None]


def test_seeds_of_another_number_than_the_slots_are_refused():
    with pytest.raises(ValueError, match="each of the 3 slots, got 2"):
        as_seeds([1, 2], 3)


def test_the_first_reset_cannot_leave_slots_out():
    with pytest.raises(ValueError, match="leaves out 1"):
        reset_mask({"reset_mask": np.array([True, False])}, 2, first=True)


def test_a_mask_of_another_length_is_refused():
    with pytest.raises(ValueError, match="each of the 3 slots"):
        reset_mask({"reset_mask": np.array([True, False])}, 3, first=False)


def test_actions_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"shape \(2, 1\), got \(2, 3\)"):
        bounded_actions(np.zeros((2, 3)), CountingWorld(2).episode_spec, 2)


def test_a_bad_action_is_refused_with_its_slot_and_name():
    with pytest.raises(ValueError, match="action 'add' of slot 1 is nan"):
        bounded_actions(np.array([[0], [np.nan]]), CountingWorld(2).episode_spec, 2)
