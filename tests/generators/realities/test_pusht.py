import gymnasium as gym
import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.testing import WorldContract
from demoloom.storage.errors import ConfigError


class TestPushTReality(WorldContract):
    def make(self, num_envs):
        return PushTReality(num_envs)


def original(size):
    """gym-pusht as its own documentation makes it."""
    return gym.make(
        "gym_pusht/PushT-v0",
        obs_type="pixels_agent_pos",
        observation_width=size,
        observation_height=size,
        render_mode="rgb_array",
        disable_env_checker=True,
    ).unwrapped


@pytest.mark.parametrize("size", [64, 96])
def test_frames_states_and_rewards_are_those_of_gym_pusht(size):
    world, env = PushTReality(1, size), original(size)
    observation, _ = world.reset(seed=[42])
    expected, _ = env.reset(seed=42)
    for action in np.random.default_rng(0).uniform(0, 512, (40, 2)).astype(np.float32):
        assert np.array_equal(observation["observation.images.top"][0], expected["pixels"])
        assert np.array_equal(observation["observation.state"][0], expected["agent_pos"].astype(np.float32))
        observation, reward, _, _, info = world.step(action[None])
        expected, expected_reward, _, _, expected_info = env.step(action)
        assert reward[0] == np.float32(expected_reward)
        assert info["score"][0] == np.float32(expected_info["coverage"])


def test_the_label_is_the_pose_of_the_block_in_the_frame_returned_with_it():
    world = PushTReality(1)
    world.reset(seed=[42])
    info = world.step(np.array([[256, 256]]))[-1]
    block = world._envs[0].block
    assert info["labels"]["block_pose"][0] == pytest.approx(
        [block.position.x, block.position.y, np.cos(block.angle), np.sin(block.angle)], rel=1e-6
    )


def test_a_block_on_its_target_is_a_success_already_at_the_start():
    world = PushTReality(1)
    env = world._envs[0]
    env.reset(options={"reset_to_state": [400, 400, 256, 256, np.pi / 4]})
    moment = env.advance(np.array([400, 400], np.float32))
    assert 0 <= moment.coverage <= 1
    assert moment.success == (moment.coverage > 0.95)


def test_physics_cannot_start_from_pixels():
    world = PushTReality(1)
    with pytest.raises(ValueError, match="cannot start from a given observation"):
        world.reset(seed=[0], options={"start": {"observation.images.top": np.zeros((1, 64, 64, 3), np.uint8)}})


@pytest.mark.parametrize(("num_envs", "size", "named"), [(0, 64, "num_envs=0"), (1, 8, "size=8"), (1, 513, "size=513")])
def test_impossible_settings_are_named(num_envs, size, named):
    with pytest.raises(ConfigError, match=named):
        PushTReality(num_envs, size)
