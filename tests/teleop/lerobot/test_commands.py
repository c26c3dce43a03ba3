"""LeRobot's own commands, run offline as a user types them: they record, roll out and score inside worlds."""

import json
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.seeds import episode_seed
from demoloom.storage.dataset import open_dataset
from demoloom.storage.episode import Episode
from demoloom.teleop.lerobot.vector_env import WorldVectorEnv
from demoloom.teleop.lerobot.worlds import open_world, world_spec

from .steady_policy import write_steady_policy

COUNTING = "reality:counting_task:COUNTING"
OURS = "demoloom.teleop.lerobot"
ACTION = [300.0, 200.0]

pytestmark = pytest.mark.slow


def episodes(folder: Path) -> list[Episode]:
    """All of a dataset."""
    reader = open_dataset(folder)
    return [reader.read(id) for id in reader.ids()]


def recording(root: str, num_episodes: int = 2) -> list[str]:
    """The options that say what is recorded: episodes of one second at 10 steps a second, with nothing in between."""
    return [
        f"--dataset.root={root}",
        "--dataset.single_task=Count to 8.",
        f"--dataset.num_episodes={num_episodes}",
        "--dataset.episode_time_s=1",
        "--dataset.reset_time_s=0",
        "--dataset.video=false",
        "--dataset.push_to_hub=false",
        "--play_sounds=false",
    ]


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Goes to one place of the board, whatever it sees."""
    return write_steady_policy(tmp_path_factory.mktemp("policy") / "pretrained_model", world_spec("pusht"), ACTION)


def test_lerobot_record_writes_what_a_teleoperator_did_in_a_world(lerobot, tmp_path):
    done = lerobot(
        "record",
        "--robot.type=demoloom_world",
        f"--robot.discover_packages_path={OURS}",
        f"--robot.world={COUNTING}",
        "--robot.seed=2",
        "--teleop.type=scripted",
        "--teleop.says=[0.5,0.25]",
        "--dataset.repo_id=local/counts",
        "--dataset.fps=10",
        *recording("counts"),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    made = episodes(tmp_path / "counts")
    # Each starts anew, where its seed says, and each action of a row is what leads to the next.
    assert [episode.state[0, 0] for episode in made] == [episode_seed(2, index) % 5 for index in range(2)]
    for episode in made:
        assert set(episode.action[:, 0]) == {0.5, 0.25}
        assert np.array_equal(np.diff(episode.state[:, 0]), episode.action[:-1, 0])
        assert np.array_equal(episode.images["top"][:, 0, 0, 0], (8 * episode.state[:, 0]).astype(np.uint8))


def test_lerobot_record_lets_a_stream_drive_in_the_place_of_a_person(lerobot, plugin, tmp_path):
    done = lerobot(
        "record",
        "--robot.type=demoloom_world",  # found by the name of the plug-in's distribution, as is the teleoperator
        f"--robot.world={COUNTING}",
        "--teleop.type=demoloom_stream",
        "--teleop.stream=demoloom.generators.testing:RandomCounts",
        "--teleop.settings={low: 0.25, high: 0.25}",
        "--dataset.repo_id=local/counts",
        "--dataset.fps=10",
        *recording("counts", num_episodes=1),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    (made,) = episodes(tmp_path / "counts")
    assert set(np.diff(made.state[:, 0])) == set(made.action[:, 0]) == {0.25}


def test_lerobot_rollout_lets_a_policy_drive_a_learned_world(lerobot, plugin, policy, tmp_path):
    done = lerobot(
        "rollout",
        "--strategy.type=episodic",
        f"--policy.path={policy}",
        "--robot.type=demoloom_world",
        "--robot.world=pusht",
        "--fps=10",
        "--dataset.fps=10",
        "--dataset.repo_id=local/rollout_pusht",
        "--strategy.reset_to_initial_position=false",
        "--return_to_initial_position=false",
        *recording("rollouts"),
    )
    assert done.returncode == 0, done.stderr[-2000:]
    made, world = episodes(tmp_path / "rollouts"), open_world("pusht", 1)
    for index, episode in enumerate(made):
        assert np.array_equal(episode.action, np.tile(np.array(ACTION, np.float32), (len(episode.action), 1)))
        shown, _ = world.reset(seed=[episode_seed(0, index)])
        for state, image in zip(episode.state, episode.images["top"], strict=True):
            assert np.array_equal(state, shown["observation.state"][0])
            assert np.array_equal(image, shown["observation.images.top"][0])
            shown, *_ = world.step(np.array([ACTION], np.float32))


def test_lerobot_eval_scores_a_policy_in_a_learned_world(lerobot, policy, tmp_path):
    done = lerobot(
        "eval",
        f"--policy.path={policy}",
        "--env.type=demoloom_world",
        f"--env.discover_packages_path={OURS}",
        "--env.world=pusht",
        "--env.episode_length=5",
        "--eval.n_episodes=2",
        "--eval.batch_size=2",
        "--seed=7",
        "--output_dir=scores",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "scores" / "eval_info.json").read_text())["per_task"][0]["metrics"]
    world = WorldVectorEnv(2, world="pusht", max_episode_steps=5)
    world.reset(seed=[7, 8])
    rewards = [world.step(np.tile(np.array(ACTION, np.float32), (2, 1)))[1] for _ in range(5)]
    assert found["sum_rewards"] == pytest.approx(np.sum(rewards, axis=0).tolist(), abs=1e-5)
    assert found["successes"] == [False, False]


def test_lerobot_eval_counts_success_and_shows_what_it_saw(lerobot, plugin, site, tmp_path):
    write_steady_policy(tmp_path / "adder", world_spec(COUNTING), [1.0])
    done = lerobot(
        "eval",
        f"--policy.path={tmp_path / 'adder'}",
        "--env.type=demoloom_world",
        f"--env.world={COUNTING}",
        "--eval.n_episodes=2",
        "--eval.batch_size=2",
        "--seed=3",
        "--output_dir=scores",
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads((tmp_path / "scores" / "eval_info.json").read_text())["per_task"][0]["metrics"]
    assert found["successes"] == [True, True]
    # From 3: (4 + 5 + 6 + 7 + 8) / 8. From 4: one step less.
    assert found["sum_rewards"] == [30 / 8, 26 / 8]
    assert found["max_rewards"] == [1.0, 1.0]
    assert len(list((tmp_path / "scores" / "videos").rglob("*.mp4"))) == 2
