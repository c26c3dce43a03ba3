import time

import numpy as np
import pytest

from demoloom.generators.plan import RolloutPlan
from demoloom.generators.rollout import rollout
from demoloom.generators.stream import Intervening
from demoloom.generators.testing import CountingWorld
from demoloom.storage.columns import columns_of
from demoloom.storage.errors import ConfigError, DeviceError, PluginError, SpecMismatch
from demoloom.storage.plugins import PluginRef
from demoloom.teleop import Intervene

WORLD = PluginRef("worlds", "demoloom.generators.testing:CountingWorld")


@pytest.fixture
def stream(site, tmp_path):
    """Builds `lerobot:TYPE` with these settings for the counter."""
    made = []

    def build(name="lerobot:scripted", **settings):
        settings = {"calibration_dir": str(tmp_path), "paced": False, **settings}
        made.append(PluginRef("streams", name, settings).build(spec=CountingWorld(1).episode_spec))
        return made[-1]

    yield build
    for each in made:
        each.close()


def observation(count=0.0):
    return {"observation.state": np.array([[count]], np.float32)}


def test_what_the_arm_says_is_what_the_world_does(stream):
    plan = RolloutPlan("record", WORLD, PluginRef("streams", "lerobot:scripted"), run_seed=0, max_steps=4, num_slots=1)
    (episode,) = rollout(CountingWorld(1), stream(says=[0.5, -0.25]), plan, [0])
    assert episode.action[:, 0].tolist() == [0.5, -0.25, 0.5, -0.25]
    assert np.diff(episode.state[:, 0]).tolist() == [0.5, -0.25, 0.5]


def test_a_vector_with_names_is_read_as_well(stream):
    arm = stream(as_vector=True, motors=["add"])
    arm.reset([0], np.array([True]))
    assert arm.act(observation()).tolist() == [[0.5]]


def test_a_button_on_the_device_ends_the_episode_and_the_next_begins(stream):
    arm = stream(button_after=2)
    arm.reset([0], np.array([True]))
    arm.act(observation())
    assert not arm.finished()[0]
    arm.act(observation())
    assert arm.finished()[0]
    arm.reset([1], np.array([True]))
    assert not arm.finished()[0]


def test_a_silent_arm_is_held_and_a_broken_one_is_named(stream):
    arm = stream(says=[0.5, 999, -999])
    arm.reset([0], np.array([True]))
    assert [arm.act(observation()).item() for _ in range(2)] == [0.5, 0.5]
    with pytest.raises(DeviceError, match=r"scripted does not answer .*no such device.*plugged in and switched on"):
        arm.act(observation())


def test_a_device_that_is_plugged_in_again_goes_on(stream):
    arm = stream(says=[0.5, -999, 0.25])
    arm.reset([0], np.array([True]))
    arm.act(observation())
    with pytest.raises(DeviceError, match="does not answer"):
        arm.act(observation())
    assert not arm._device.is_connected
    assert arm.act(observation()).item() == 0.5  # the script of an arm that was just connected


def test_joints_that_do_not_fit_are_an_error_until_they_are_mapped(stream):
    with pytest.raises(SpecMismatch, match=r"gives elbow.pos and the world takes add; name the joint of add"):
        stream(motors=["elbow.pos"])
    arm = stream(motors=["elbow.pos"], joints={"add": "elbow.pos"})
    arm.reset([0], np.array([True]))
    assert arm.act(observation()).tolist() == [[0.5]]


def test_a_misspelt_type_suggests_the_nearest(stream):
    with pytest.raises(PluginError, match="no teleoperator of type 'so101_lead'; did you mean 'so101_leader'"):
        stream("lerobot:so101_lead")


def test_a_stream_without_a_type_says_how_one_is_named(stream):
    with pytest.raises(ConfigError, match="after a colon, as in lerobot:so101_leader"):
        stream("lerobot")


def test_a_setting_that_a_device_lacks_or_misses_is_named(stream):
    with pytest.raises(ConfigError, match=r"a scripted teleoperator cannot be set up .*baud"):
        stream(baud=9600)
    with pytest.raises(ConfigError, match=r"a so101_leader teleoperator cannot be set up .*port"):
        stream("lerobot:so101_leader")


def test_a_device_that_cannot_be_opened_says_what_to_check(stream):
    with pytest.raises(DeviceError, match=r"cannot connect the teleoperator scripted \(Could not open port"):
        stream(port="/dev/nothing")


def test_a_leader_arm_that_is_not_there_is_named(stream):
    # Its driver may be missing as well, which is said then.
    with pytest.raises(DeviceError, match=r"the teleoperator so101_leader"):
        stream("lerobot:so101_leader", port="/dev/nothing")


def test_a_device_that_was_never_calibrated_is_not_waited_for(stream):
    with pytest.raises(DeviceError, match=r"is not calibrated; run lerobot-calibrate --teleop.type=scripted"):
        stream(calibrated=False)


def test_the_world_goes_at_its_own_rate_and_catches_up_on_nothing(stream):
    arm = stream(paced=True)  # of a world of 10 steps a second
    arm.reset([0], np.array([True]))
    arm.act(observation())
    time.sleep(0.5)
    late = time.monotonic()
    for _ in range(4):
        arm.act(observation())
    # The first at once, although three others would have been due as well; then one in each tenth of a second.
    assert time.monotonic() - late >= 0.3


def test_what_is_recorded_says_that_a_person_drove(stream):
    arm = stream()
    assert isinstance(arm, Intervening)
    assert arm.intervening().tolist() == [True]


def test_a_person_takes_over_from_a_stream_while_they_hold_the_button_for_it(site, tmp_path):
    driver = {"name": "demoloom.generators.testing:RandomCounts", "kwargs": {"low": -1.0, "high": -1.0}}
    held = {"says": [0.5], "takes_over_after": 3, "calibration_dir": str(tmp_path), "paced": False}
    together = Intervene(CountingWorld(1).episode_spec, driver, {"name": "lerobot:scripted", "kwargs": held})
    plan = RolloutPlan("record", WORLD, PluginRef("streams", "intervene"), run_seed=0, max_steps=5, num_slots=1)
    (episode,) = rollout(CountingWorld(1), together, plan, [0])
    together.close()
    assert episode.action[:, 0].tolist() == [-1, -1, 0.5, 0.5, 0.5]
    assert columns_of(episode)["intervention"].tolist() == [False, False, True, True, True]


def test_one_person_drives_one_world(stream):
    with pytest.raises(ConfigError, match="one world at a time, got 2 slots; set num_slots to 1"):
        stream().reset([0, 1], np.array([True, True]))


def test_a_closed_stream_has_let_go_of_its_device(stream):
    arm = stream()
    arm.close()
    assert not arm._device.is_connected
