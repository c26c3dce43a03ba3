import dataclasses

import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.testing import StreamContract
from demoloom.storage.errors import ConfigError
from demoloom.storage.spec import Camera
from demoloom.teleop.pusht import ContactSeeking
from demoloom.teleop.pusht.seek import draw_push

SPEC = PushTReality(1).episode_spec


class TestContactSeeking(StreamContract):
    def make(self):
        return ContactSeeking(SPEC)

    def make_world(self, num_envs):
        return PushTReality(num_envs)


def test_in_nearly_every_episode_the_tee_moves_far():
    world, stream = PushTReality(10), ContactSeeking(SPEC)
    observation, info = world.reset(seed=0)
    stream.reset(list(range(10)), np.ones(10, bool))
    travelled, before = np.zeros(10), info["labels"]["block_pose"]
    for _ in range(80):
        observation, *_, info = world.step(stream.act(observation))
        travelled += np.linalg.norm(info["labels"]["block_pose"][:, :2] - before[:, :2], axis=1)
        before = info["labels"]["block_pose"]
    assert (travelled > 20).sum() >= 8


def test_pushes_start_outside_the_tee_and_pass_near_its_centre():
    centre = np.array([256.0, 256.0])
    for seed in range(20):
        start, end = draw_push(centre, np.random.default_rng(seed), (0.0, 100.0))
        along = (end - start) / np.linalg.norm(end - start)
        beside = abs(along[0] * (centre - start)[1] - along[1] * (centre - start)[0])
        assert np.linalg.norm(start - centre) >= 110
        assert beside <= 45


def test_a_robot_without_the_camera_is_refused():
    blind = dataclasses.replace(SPEC, cameras=(Camera("wrist", 64, 64),))
    with pytest.raises(ConfigError, match="pusht-seek looks through a camera named 'top'"):
        ContactSeeking(blind)


def test_a_lead_that_cannot_be_used_is_named():
    with pytest.raises(ConfigError, match="lead of pusht-seek must be"):
        ContactSeeking(SPEC, lead=(40.0, 10.0))
