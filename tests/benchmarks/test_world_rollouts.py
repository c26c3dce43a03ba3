from pathlib import Path

import numpy as np
import pytest
import torch
from world import write_untrained
from world_rollouts import ExpertInTheLoop, Random, RealRollout, Rollout, Starts, draw_starts, make_driver
from world_trials import STEPS, Verdicts, auroc, begin_trial, end_trial

from demoloom.generators.learned.checkpoint import from_pretrained
from demoloom.generators.learned.world import LearnedWorld


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_untrained(tmp_path_factory.mktemp("untrained") / "world")


@pytest.fixture
def rollout(world: Path) -> Rollout:
    checkpoint = from_pretrained(world)
    return Rollout(checkpoint.model, Random(checkpoint.model.spec), draw_starts(checkpoint, 2, seed=0))


def test_a_rollout_goes_where_the_world_goes_and_shows_what_it_shows(world: Path, rollout: Rollout) -> None:
    for _ in range(3):
        rollout.step()
    learned = LearnedWorld(str(world), 2)
    learned.reset(seed=0)
    learned.restore(rollout.snapshot(learned))
    for _ in range(4):
        rollout.step()
        observation = learned.step(rollout.commands[-1])[0]
    np.testing.assert_array_equal(observation["observation.state"], rollout.agents)
    np.testing.assert_array_equal(observation["observation.images.top"], rollout.frames())


def test_looking_changes_nothing(world: Path, rollout: Rollout) -> None:
    checkpoint = from_pretrained(world)
    other = Rollout(checkpoint.model, Random(checkpoint.model.spec), draw_starts(checkpoint, 2, seed=0))
    for _ in range(3):
        rollout.step()
        rollout.frames()
        other.step()
    np.testing.assert_array_equal(rollout.poses, other.poses)


def test_a_trial_lets_physics_and_the_world_follow_the_same_commands(world: Path, rollout: Rollout) -> None:
    learned = LearnedWorld(str(world), 2)
    learned.reset(seed=0)
    rollout.step()
    agents, poses = np.full((2, 2, 2), 60.0), np.tile([256.0, 256.0, 1.0, 0.0], (2, 2, 1))
    rollout.put(agents, poses)
    np.testing.assert_allclose(rollout.poses, poses[:, -1], atol=1e-3)
    trial = begin_trial(rollout, learned)
    for _ in range(STEPS):
        rollout.step()
    found = end_trial(trial, rollout, learned)
    assert found.step == 1
    assert found.trust.shape == (STEPS, 2)
    np.testing.assert_allclose(found.shown, rollout.poses)
    assert found.on_board.all()


def test_reality_starts_where_it_is_told_to(world: Path) -> None:
    checkpoint = from_pretrained(world)
    poses = np.array([[256, 256, 1, 0], [300, 200, 0, 1]], np.float32)
    starts = Starts(np.zeros((2, 64, 64, 3), np.uint8), np.full((2, 2), 100.0, np.float32), poses)
    real = RealRollout(make_driver("idle", checkpoint.model.spec, str(world / "probe")), starts)
    real.step()
    np.testing.assert_allclose(real.agents, starts.agents, atol=0.1)
    np.testing.assert_allclose(real.poses[:, :2], starts.poses[:, :2], atol=0.1)


def test_the_expert_looks_in_its_turn_and_random_play_does_not(world: Path) -> None:
    driver = ExpertInTheLoop(from_pretrained(world).model.spec, str(world / "probe"), turns=(3, 2))
    driver.reset([1], np.ones(1, bool))
    seen: dict[str, np.ndarray] = {
        "observation.state": np.full((1, 2), 100.0, np.float32),
        "observation.images.top": np.full((1, 64, 64, 3), 255, np.uint8),
    }
    looked = []
    for _ in range(7):
        looked.append(driver.looks)
        driver.act(seen)
    assert looked == [True] * 3 + [False] * 2 + [True] * 2


def test_verdicts_judge_by_distance_turn_and_touch() -> None:
    pose = np.array([256.0, 256.0, 1.0, 0.0])
    start = np.tile(pose, (4, 1))
    true = start + np.array([[0, 0, 0, 0], [20, 0, 0, 0], [20, 0, 0, 0], [0.5, 0, 0, 0]])
    shown = true + np.array([[0, 0, 0, 0], [11, 0, 0, 0], [13, 0, 0, 0], [0, 0, 0, 0]])
    shown[3, 2:] = np.cos(np.radians(6)), np.sin(np.radians(6))
    found = Verdicts(100, start, true, shown, np.ones((STEPS, 4)))
    assert found.touched.tolist() == [False, True, True, False]
    assert found.diverged.tolist() == [False, False, True, True]


def test_auroc_counts_pairs_in_the_right_order_and_ties_half() -> None:
    positive = np.array([True, True, False, False])
    assert auroc(np.array([3.0, 4.0, 1.0, 2.0]), positive) == 1.0
    assert auroc(np.array([1.0, 4.0, 2.0, 3.0]), positive) == 0.5
    assert auroc(np.zeros(4), positive) == 0.5
    assert auroc(np.array([3.0, 2.0, 2.0, 1.0]), positive) == 0.875
    assert np.isnan(auroc(np.zeros(2), np.zeros(2, bool)))


def test_an_untrained_world_is_deterministic(world: Path, rollout: Rollout) -> None:
    torch.manual_seed(1)
    rollout.step()
    checkpoint = from_pretrained(world)
    again = Rollout(checkpoint.model, Random(checkpoint.model.spec), draw_starts(checkpoint, 2, seed=0))
    torch.manual_seed(2)
    again.step()
    np.testing.assert_array_equal(rollout.poses, again.poses)
