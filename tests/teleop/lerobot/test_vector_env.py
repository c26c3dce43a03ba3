from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from demoloom.teleop.lerobot import WORLD_ID

COUNTING = "reality:counting_task:COUNTING"
ADD = np.ones((2, 1), np.float32)


@pytest.fixture
def envs(site):
    """Two counters that start at 0 and 4 and count to 8, for at most 6 steps."""
    made: Any = gym.make_vec(WORLD_ID, num_envs=2, world=COUNTING, max_episode_steps=6)
    made.reset(seed=[0, 4])
    yield made
    made.close()


def test_each_slot_has_its_own_seed_and_its_own_end(envs):
    ends = [envs.step(ADD)[2:4] for _ in range(6)]
    assert [terminated.tolist() for terminated, _ in ends][3] == [False, True]
    assert [truncated.tolist() for _, truncated in ends][4:] == [[False, False], [True, False]]


def test_an_episode_that_has_ended_gets_no_more_reward(envs):
    rewards = np.stack([envs.step(ADD)[1] for _ in range(6)])
    assert rewards[:, 1].tolist() == [0.625, 0.75, 0.875, 1.0, 0.0, 0.0]
    assert rewards.dtype == np.float32
    assert rewards[:, 0].tolist() == [0.125, 0.25, 0.375, 0.5, 0.625, 0.75]


def test_an_episode_that_was_solved_stays_so_whatever_happens_after(envs):
    for _ in range(4):
        envs.step(ADD)
    _, _, terminated, truncated, info = envs.step(-ADD)
    assert info["is_success"].tolist() == [False, False]
    assert (terminated.tolist(), truncated.tolist()) == ([False, True], [False, False])


def test_only_the_slots_that_are_asked_for_start_anew(envs):
    envs.step(ADD)
    seen, _ = envs.reset(seed=[2, 2], options={"reset_mask": np.array([False, True])})
    assert seen["agent_pos"][:, 0].tolist() == [1.0, 2.0]
    for _ in range(5):
        _, _, _, truncated, _ = envs.step(np.zeros((2, 1), np.float32))
    assert truncated.tolist() == [True, False]


def test_lerobot_is_told_what_it_asks_of_each_slot(envs):
    assert envs.call("_max_episode_steps") == (6, 6)
    assert envs.call("task_description") == envs.get_attr("task") == ("Count to 8.", "Count to 8.")
    assert [frame[0, 0, 0] for frame in envs.call("render")] == [0, 32]
    assert envs.unwrapped.metadata["render_fps"] == 10


def test_what_it_returns_lies_in_the_spaces_that_it_names(envs):
    seen, *_ = envs.step(envs.action_space.sample())
    assert envs.observation_space.contains(seen)
