import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.testing import StreamContract
from demoloom.storage.errors import ConfigError, PluginError
from demoloom.teleop import Mix

SPEC = PushTReality(1).episode_spec
STILL, MOVING = {"name": "idle", "kwargs": {"park": 0.0}}, {"name": "random"}


class TestMix(StreamContract):
    def make(self):
        return Mix(SPEC, [MOVING, STILL, {"name": "pusht-seek"}], switch_every=2)

    def make_world(self, num_envs):
        return PushTReality(num_envs)


def holds(parts, steps=200, switch_every=10):
    """For each step whether the mix left the agent where it stood."""
    mix = Mix(SPEC, parts, switch_every)
    mix.reset([5], np.ones(1, bool))
    here = np.array([[100, 200]], np.float32)
    return np.array([(mix.act({"observation.state": here}) == here).all() for _ in range(steps)])


def test_the_parts_take_turns_of_about_the_length_asked_for():
    switches = np.flatnonzero(np.diff(holds([MOVING, STILL]).astype(int)))
    assert 5 <= len(switches) <= 20
    # Two turns of the same part may follow each other; no turn is shorter than half of ten.
    assert np.diff(switches).min() >= 5


def test_a_part_of_twice_the_weight_acts_about_twice_as_often():
    assert 0.55 < holds([MOVING, STILL | {"weight": 2.0}], steps=3000).mean() < 0.78


def test_a_part_may_have_turns_of_its_own_length():
    assert holds([MOVING, STILL | {"steps": 100}], steps=3000).mean() > 0.8


def test_a_mix_never_finishes():
    mix = Mix(SPEC, [STILL])
    mix.reset([1, 2], np.ones(2, bool))
    assert mix.finished().tolist() == [False, False]


@pytest.mark.parametrize(
    ("parts", "switch_every", "message"),
    [
        ([], 40, "a mix needs at least one part, got none"),
        ([STILL], 0, "switch_every of a mix must be at least 1 step, got 0"),
        ([STILL | {"weight": 0}], 40, "weight of part 'idle' of a mix must be above 0, got 0"),
        ([STILL | {"steps": -1}], 40, "steps of part 'idle' of a mix must not be negative, got -1"),
        ([{"nam": "idle"}], 40, "a part of a mix has a name and may have weight, kwargs and steps, got"),
    ],
)
def test_a_mix_that_cannot_be_used_says_why(parts, switch_every, message):
    with pytest.raises(ConfigError, match=message):
        Mix(SPEC, parts, switch_every)


def test_an_unknown_part_suggests_the_nearest_name():
    with pytest.raises(PluginError, match="did you mean 'idle'"):
        Mix(SPEC, [{"name": "idel"}])
