import numpy as np
import pytest

from demoloom.generators.testing import CountingWorld
from demoloom.storage.errors import ConfigError
from demoloom.teleop.slotwise import Slotwise, check_range

SPEC = CountingWorld(1).episode_spec
ROW = {"observation.state": np.zeros((2, SPEC.state.size), np.float32)}


class TwoSteps(Slotwise):
    """Commands its seed, then a number beyond every bound, then ends."""

    def behave(self, row, rng):
        yield np.full(self.low.shape, rng.uniform(0.0, 1e-3))
        yield np.full(self.low.shape, 1e9)


def test_actions_are_clipped_to_the_bounds_of_the_spec():
    stream = TwoSteps(SPEC)
    stream.reset([1, 2], np.ones(2, bool))
    stream.act(ROW)
    assert np.array_equal(stream.act(ROW), np.array([SPEC.action.high] * 2, np.float32))


def test_a_behaviour_that_ends_is_finished_and_leaves_its_last_action():
    stream = TwoSteps(SPEC)
    stream.reset([1, 2], np.ones(2, bool))
    actions = [stream.act(ROW) for _ in range(3)]
    assert stream.finished().tolist() == [True, True]
    assert np.array_equal(actions[2], actions[1])


def test_a_masked_reset_revives_one_slot_alone():
    stream = TwoSteps(SPEC)
    stream.reset([1, 2], np.ones(2, bool))
    first, *_ = [stream.act(ROW) for _ in range(3)]
    stream.reset([1, 2], np.array([True, False]))
    assert stream.finished().tolist() == [False, True]
    assert np.array_equal(stream.act(ROW)[0], first[0])


@pytest.mark.parametrize("value", [(0.0, 1.0), (2.0, 1.0), (0.5, 11.0), (1.0,)])
def test_a_range_that_cannot_be_used_is_named(value):
    with pytest.raises(ConfigError, match=r"pace of random must be \(low, high\) with 0 < low <= high <= 10, got"):
        check_range("random", "pace", value, most=10.0)
