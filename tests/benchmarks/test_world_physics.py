import numpy as np
import pytest
from world_physics import (
    Agents,
    Judge,
    Physics,
    agents_agree,
    angle_between,
    distance_between,
    see_agents,
    speed_now,
    within,
)

from demoloom.generators.realities.pusht import PushTReality

RIGHT, DOWN = (1.0, 0.0), (0.0, 1.0)


def test_physics_goes_on_as_gym_pusht_does() -> None:
    world = PushTReality(1)
    _, info = world.reset(seed=[3])
    env = world._envs[0]
    physics = Physics(64)
    physics.place(np.array(env.agent.position), info["labels"]["block_pose"][0])
    target = info["labels"]["block_pose"][:, :2]
    for _ in range(30):
        observation, _, _, _, info = world.step(target)
        physics.step(target[0])
    np.testing.assert_allclose(physics.agent, observation["observation.state"][0], atol=0.01)
    np.testing.assert_allclose(physics.pose, info["labels"]["block_pose"][0], atol=1.0)
    np.testing.assert_allclose(physics.draw().astype(int), observation["observation.images.top"][0], atol=60)


def test_a_frame_agrees_with_itself_and_not_with_a_block_elsewhere() -> None:
    agents, pose = np.full((2, 2), 60.0), [256.0, 200.0, *RIGHT]
    judge = Judge(64)
    shown, drawn = judge.draw(agents, np.array([pose, pose])), judge.draw(agents, np.array([pose, [316.0, *pose[1:]]]))
    same, moved = judge.overlaps(shown, drawn)
    assert same == 1
    assert moved < 0.6


def test_an_agent_elsewhere_missing_or_doubled_does_not_agree() -> None:
    judge, block = Judge(64), np.tile([400.0, 400.0, *RIGHT], (4, 1))
    drawn = judge.draw(np.full((4, 2), 100.0), block)
    shown = judge.draw(np.array([[103.0, 100.0], [115.0, 100.0], [-100.0, 100.0], [100.0, 100.0]]), block)
    second = judge.draw(np.array([[100.0, 300.0]]), block[:1])[0]
    shown[3] = np.minimum(shown[3], second)
    assert agents_agree(shown, drawn).tolist() == [True, False, False, False]


def test_an_agent_is_seen_where_it_is() -> None:
    places = np.array([[100.0, 200.0], [333.0, 60.0]])
    seen, amount = see_agents(Judge(64).draw(places, np.tile([400.0, 400.0, *RIGHT], (2, 1))))
    np.testing.assert_allclose(seen, places, atol=2.0)
    np.testing.assert_allclose(amount, np.pi * 15**2 / 64, rtol=0.15)


def test_agents_move_as_gym_pushts_agent() -> None:
    world = PushTReality(1)
    observation, _ = world.reset(seed=[5])
    agents = Agents(observation["observation.state"])
    for command in np.random.default_rng(0).uniform(0, 512, (20, 1, 2)):
        observation = world.step(command)[0]
        agents.step(command)
    np.testing.assert_allclose(agents.position, observation["observation.state"], atol=0.01)


def test_the_speed_of_an_agent_follows_from_two_of_its_places() -> None:
    agents, command = Agents(np.array([[100.0, 100.0]])), np.array([[300.0, 50.0]])
    agents.step(command)
    before = agents.position.copy()
    agents.step(command)
    np.testing.assert_allclose(speed_now(before, agents.position, command), agents.velocity, atol=1e-6)


def test_poses_differ_by_their_distance_and_the_shorter_way_round() -> None:
    one, other = np.array([[0.0, 0.0, *RIGHT]]), np.array([[3.0, 4.0, *DOWN]])
    assert distance_between(one, other) == pytest.approx(5.0)
    assert angle_between(one, other) == pytest.approx(90.0)
    assert angle_between(other, one) == pytest.approx(90.0)


def test_blocks_are_within_bounds_with_both_coordinates() -> None:
    poses = np.array([[0.0, 512.0, 1, 0], [-1.0, 5.0, 1, 0], [5.0, 513.0, 1, 0]])
    assert within(poses, (0.0, 512.0)).tolist() == [True, False, False]
