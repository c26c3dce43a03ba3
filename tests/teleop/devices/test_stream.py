import random
import time

import numpy as np
import pytest

from demoloom.generators import RolloutPlan, rollout
from demoloom.generators.realities.pusht import pusht_spec
from demoloom.generators.testing import CountingWorld
from demoloom.storage.errors import ConfigError, DeviceError
from demoloom.storage.plugins import PluginRef
from demoloom.teleop.devices.discovery import discover, find_device
from demoloom.teleop.devices.stream import DeviceStream
from demoloom.teleop.intervene import Intervene

from .fake_hid import FakeBackend, FakeDevice, WallClock
from .test_descriptor import F310
from .test_reader import F310_ENTRY

SPEC = CountingWorld(1).episode_spec
#: No dead zone, no curve and no smoothing: the action is the stick's deflection.
PLAIN = {"shaping": {"dead_zone": 0.0, "curve": 0.0, "smoothing_s": 0.0}}


def pad(x=128, north=False):
    """A report of an F310: its stick's x, and whether its north button, which keeps, is held."""
    return bytes([x, 128, 128, 128, 0x88 if north else 0x08, 0, 0, 0])


def streaming(script=(), wait_s=60.0, sleep=time.sleep, spec=SPEC, **unplugged):
    """A stream of a pad that sends this script, read by a thread on the clock on the wall."""
    backend = FakeBackend(FakeDevice(F310_ENTRY, list(script), descriptor=F310, **unplugged), clock=WallClock())
    return DeviceStream(spec, "any", PLAIN, wait_s, lambda name: find_device(name, discover([backend])), sleep=sleep)


def episode_of(stream, max_steps):
    refs = (PluginRef("worlds", "counting"), PluginRef("streams", "device"))
    plan = RolloutPlan("test", *refs, run_seed=0, max_steps=max_steps, num_slots=1)
    (episode,) = rollout(CountingWorld(1, goal=31), stream, plan, [0])
    stream.close()
    return episode


@pytest.mark.parametrize("hz", [5, 60, 1000])
def test_each_step_is_one_action_whatever_the_rate_of_the_device_and_however_both_jitter(hz):
    rng = random.Random(hz)
    moments = sorted((number + rng.uniform(-0.5, 0.5)) / hz for number in range(1, hz * 2))
    # The stick is pushed further and further, so that an action which is taken twice or late shows.
    script = [(moment, pad(128 + int(60 * moment))) for moment in moments]
    began = time.monotonic()
    episode = episode_of(streaming(script, sleep=lambda s: time.sleep(s + rng.uniform(0, 0.03))), max_steps=12)
    # Twelve steps of a tenth of a second begin within 1.1 s, and no burst makes up for what came late.
    assert time.monotonic() - began >= 1.1
    actions = episode.action[:, 0]
    assert len(actions) == 12
    assert np.diff(actions).min() >= 0
    assert actions[-1] > actions[0]
    # Each action moved the world once: the count of a row is the sum of what was done before it.
    assert episode.state[:, 0] == pytest.approx(episode.state[0, 0] + np.append(0, np.cumsum(actions))[:-1], abs=1e-5)
    if hz >= 60:
        assert len(np.unique(actions)) >= 8


def test_a_press_ends_the_episode_however_short_it_was():
    episode = episode_of(streaming([(0.52, pad(north=True)), (0.53, pad())]), max_steps=30)
    assert 1 <= len(episode.action) <= 8


def test_what_was_pressed_before_an_episode_ends_nothing():
    stream = streaming([(0.01, pad(north=True)), (0.02, pad())])
    time.sleep(0.1)
    assert len(episode_of(stream, max_steps=3).action) == 3


def test_nothing_is_stepped_while_the_device_is_unplugged():
    stream = streaming([(number / 50, pad(255)) for number in range(50)], unplugged_at=0.5, plugged_at=1.0)
    began = time.monotonic()
    actions = episode_of(stream, max_steps=9).action[:, 0].tolist()
    assert len(actions) == 9
    # It is looked for once a second, and is at rest from then on until it says something.
    assert time.monotonic() - began > 1.2
    assert 1.0 in actions
    assert actions[-2:] == [0.0, 0.0]


def test_a_device_that_stays_unplugged_ends_in_a_sentence():
    stream = streaming(wait_s=0.2, unplugged_at=0.05)
    with pytest.raises(DeviceError, match=r"no device for 0.2 s: the device was unplugged .* plug it in again"):
        episode_of(stream, max_steps=12)
    stream.close()


def test_a_person_drives_one_episode_at_a_time():
    stream = streaming()
    with pytest.raises(ConfigError, match="a person drives one episode at a time, got 4 slots"):
        stream.reset([0] * 4, np.ones(4, bool))
    stream.close()


def test_a_person_drives_each_step():
    stream = streaming()
    assert stream.intervening().tolist() == [True]
    stream.close()


def test_a_hand_takes_over_where_another_has_driven_the_robot():
    stream = streaming([(0.35, pad(255))], spec=pusht_spec())
    stream.reset([0], np.ones(1, bool))
    path = np.array([[100.0 + 50 * step, 300.0] for step in range(8)], np.float32)
    steps = [(stream.act({"observation.state": here[None]})[0], bool(stream.takes_over()[0])) for here in path]
    stream.close()
    taken = [by_hand for _, by_hand in steps].index(True)
    assert taken >= 1
    assert all(by_hand for _, by_hand in steps[taken:])
    # At rest it says where the robot is, and goes on from there: half of 512 in a second, and none of it in y.
    assert steps[taken - 1][0].tolist() == path[taken - 1].tolist()
    assert steps[taken][0].tolist() == pytest.approx([path[taken][0] + 25.6, 300.0])


def test_a_device_takes_over_from_a_stream_that_drives():
    device = {"name": f"{__name__}:pushing", "kwargs": {}}
    driver = {"name": "demoloom.generators.testing:RandomCounts", "kwargs": {"low": -0.01, "high": 0.01}}
    stream = Intervene(SPEC, driver, device)
    episode = episode_of(stream, max_steps=8)
    by_hand = episode.action[:, 0] == 1.0
    assert episode.intervention is not None
    assert np.array_equal(episode.intervention, by_hand)
    assert by_hand[-1]
    assert not by_hand[0]


def pushing(spec):
    """A stream of a pad that is pushed right after a while."""
    return streaming([(0.35, pad(255))], spec=spec)
