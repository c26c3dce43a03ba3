import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.testing import CountingWorld, StreamContract
from demoloom.storage.errors import ConfigError
from demoloom.teleop import Idle, RandomPushes

SPEC = PushTReality(1).episode_spec


class TestRandomPushes(StreamContract):
    def make(self):
        return RandomPushes(SPEC)

    def make_world(self, num_envs):
        return PushTReality(num_envs)


class TestIdle(StreamContract):
    def make(self):
        return Idle(SPEC)

    def make_world(self, num_envs):
        return PushTReality(num_envs)


def observed(position):
    return {"observation.state": np.array([position], np.float32)}


def actions_of(stream, seed, steps, position=(100.0, 200.0)):
    stream.reset([seed], np.ones(1, bool))
    return np.concatenate([stream.act(observed(position)) for _ in range(steps)])


def test_random_play_moves_no_faster_than_its_pace():
    actions = actions_of(RandomPushes(SPEC, pace=(0.1, 0.5)), seed=3, steps=300)
    # Half the range of 512 in a second of ten steps is 25.6 units a step.
    assert np.abs(np.diff(actions, axis=0)).max() < 26.5


def test_random_play_starts_where_the_robot_is():
    actions = actions_of(RandomPushes(SPEC, pace=(0.1, 0.1)), seed=3, steps=1)
    assert np.abs(actions[0] - (100.0, 200.0)).max() < 5.5


def test_random_play_reaches_all_quarters_of_the_workspace():
    actions = actions_of(RandomPushes(SPEC), seed=3, steps=600)
    assert len(np.unique(actions // 256, axis=0)) == 4


def test_random_play_drives_a_robot_whose_state_is_something_else():
    spec = CountingWorld(1).episode_spec
    stream = RandomPushes(spec)
    stream.reset([0], np.ones(1, bool))
    observation, _ = CountingWorld(1).reset(seed=[0])
    assert stream.act(observation).shape == (1, spec.action.size)


def test_idle_play_commands_the_position_it_found():
    actions = actions_of(Idle(SPEC, park=0.0), seed=1, steps=5)
    assert np.array_equal(actions, np.array([(100, 200)] * 5, np.float32))


def test_parked_play_stands_at_an_edge():
    actions = actions_of(Idle(SPEC, park=1.0), seed=1, steps=5)
    assert np.isin(actions[0], [0.0, 512.0]).any()
    assert (actions == actions[0]).all()


def test_a_park_that_is_no_probability_is_refused():
    with pytest.raises(ConfigError, match=r"park of idle is a probability, got 1\.5"):
        Idle(SPEC, park=1.5)
