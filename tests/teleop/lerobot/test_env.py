import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from demoloom.teleop.lerobot import WORLD_ID
from demoloom.teleop.lerobot.worlds import open_world

COUNTING = "reality:counting_task:COUNTING"


@pytest.fixture
def env(site):
    made = gym.make(WORLD_ID, world=COUNTING)
    yield made
    made.close()


# A state has no bounds that a learned world would keep to.
@pytest.mark.filterwarnings("ignore:.*A Box observation space:UserWarning")
def test_it_keeps_gymnasiums_contract(env):
    check_env(env.unwrapped, skip_render_check=True)


def test_it_is_made_by_its_id_with_the_module_that_registers_it(site):
    env = gym.make(f"demoloom.teleop.lerobot:{WORLD_ID}", world=COUNTING)
    assert env.get_wrapper_attr("task") == "Count to 8."


def test_an_action_changes_the_frame_that_is_returned_for_it(env):
    before, _ = env.reset(seed=3)
    after, *_ = env.step(np.array([1.0], np.float32))
    assert (before["agent_pos"].item(), after["agent_pos"].item()) == (3.0, 4.0)
    assert after["pixels"]["top"][0, 0].tolist() == [32, 0, 0]
    assert env.render()[0, 0].tolist() == [32, 0, 0]


def test_success_ends_an_episode_by_lerobots_name(env):
    env.reset(seed=4)
    steps = [env.step(np.array([1.0], np.float32)) for _ in range(4)]
    assert [step[2] for step in steps] == [False, False, False, True]
    assert [step[4]["is_success"] for step in steps] == [False, False, False, True]
    assert steps[-1][4]["score"] == 1.0


def test_an_episode_is_cut_off_after_as_many_steps_as_asked_for(site):
    env = gym.make(WORLD_ID, world=COUNTING, max_episode_steps=2)
    env.reset(seed=0)
    rest = np.zeros(1, np.float32)
    assert [env.step(rest)[3] for _ in range(2)] == [False, True]


def test_without_a_seed_the_next_episode_follows_from_the_last_seed(env):
    def three() -> list[float]:
        seeds = (7, None, None)
        return [env.reset(seed=seed)[0]["agent_pos"].item() for seed in seeds]

    assert three() == three()


def test_a_learned_world_shows_what_it_shows_without_gymnasium():
    env, world = gym.make(WORLD_ID, world="pusht"), open_world("pusht", 1)
    seen, known = env.reset(seed=5)
    shown, info = world.reset(seed=[5])
    action = np.array([300.0, 200.0], np.float32)
    for _ in range(3):
        assert np.array_equal(seen["pixels"]["top"], shown["observation.images.top"][0])
        assert np.array_equal(seen["agent_pos"], shown["observation.state"][0])
        assert known["trust"] == info["trust"][0]
        seen, _, _, _, known = env.step(action)
        shown, _, _, _, info = world.step(action[None])
