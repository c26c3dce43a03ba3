import dataclasses

import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.testing import StreamContract
from demoloom.storage.errors import ConfigError
from demoloom.storage.spec import Vector
from demoloom.teleop.pusht import PushTExpert
from demoloom.teleop.pusht.sight import read_pose

SPEC = PushTReality(1).episode_spec


class TruePoses:
    """Reality's own labels in place of a probe, with some noise if asked for."""

    def __init__(self, sigma=0.0):
        self.poses, self.sigma, self.rng = np.zeros((0, 4)), sigma, np.random.default_rng(0)

    def __call__(self, images):
        angle = np.arctan2(self.poses[:, 3], self.poses[:, 2])
        angle = angle + np.radians(self.sigma / 1.5) * self.rng.normal(size=len(angle))
        place = self.poses[:, :2] + self.sigma * self.rng.normal(size=(len(angle), 2))
        return {"block_pose": np.column_stack([place, np.cos(angle), np.sin(angle)])}


def steps_to_success(seeds, sigma=0.0, max_steps=300):
    """For each seed the step at which the T lay on the goal, or nan."""
    world, probe = PushTReality(len(seeds)), TruePoses(sigma)
    stream = PushTExpert(SPEC, probe)
    observation, info = world.reset(seed=seeds)
    stream.reset(seeds, np.ones(len(seeds), bool))
    taken = np.full(len(seeds), np.nan)
    for step in range(max_steps):
        probe.poses = info["labels"]["block_pose"].astype(np.float64)
        observation, *_, info = world.step(stream.act(observation))
        taken[info["success"] & np.isnan(taken)] = step + 1
        if not np.isnan(taken).any():
            break
    return taken


class TestPushTExpert(StreamContract):
    def make(self):
        return PushTExpert(SPEC, read_pose, action_noise=5.0)

    def make_world(self, num_envs):
        return PushTReality(num_envs)


def test_with_true_poses_it_solves_every_start_within_300_steps():
    taken = steps_to_success([0, 1, 2, 3, 4])
    assert not np.isnan(taken).any()
    assert taken.mean() < 160


def test_it_stands_poses_that_are_off_by_a_unit_and_a_half_and_a_degree():
    assert np.isnan(steps_to_success([5, 6, 7, 8, 9], sigma=1.5)).sum() <= 1


def test_a_new_episode_owes_nothing_to_the_one_before():
    observation, _ = PushTReality(1).reset(seed=[3])
    other, _ = PushTReality(1).reset(seed=[4])
    stream = PushTExpert(SPEC, "colours")
    stream.reset([0], np.ones(1, bool))
    first = stream.act(observation)
    stream.act(other)
    stream.reset([0], np.ones(1, bool))
    assert np.array_equal(stream.act(observation), first)


def test_noise_makes_its_actions_differ_by_seed():
    observation, _ = PushTReality(2).reset(seed=[3, 3])
    for noise, same in ((0.0, True), (5.0, False)):
        stream = PushTExpert(SPEC, "colours", action_noise=noise)
        stream.reset([0, 1], np.ones(2, bool))
        first, second = stream.act(observation)
        assert np.array_equal(first, second) == same


def test_it_never_says_that_it_is_finished():
    stream = PushTExpert(SPEC, "colours")
    stream.reset([0, 1], np.ones(2, bool))
    assert stream.finished().tolist() == [False, False]


def test_a_negative_noise_is_refused():
    with pytest.raises(ConfigError, match=r"action_noise of pusht-expert must lie in \[0, 512\), got -1"):
        PushTExpert(SPEC, "colours", action_noise=-1)


def test_a_robot_of_another_kind_is_refused():
    arm = dataclasses.replace(SPEC, action=Vector(("joint",), (0.0,), (1.0,)))
    with pytest.raises(ConfigError, match="pusht-expert needs x and y of the agent as state and as action"):
        PushTExpert(arm, "colours")
