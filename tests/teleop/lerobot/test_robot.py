import numpy as np
import pytest
from lerobot.datasets import LeRobotDataset
from lerobot.robots import make_robot_from_config
from lerobot.utils.errors import DeviceAlreadyConnectedError, DeviceNotConnectedError
from lerobot.utils.feature_utils import hw_to_dataset_features

from demoloom.generators.seeds import episode_seed
from demoloom.storage.errors import SpecMismatch
from demoloom.teleop.lerobot.config_robot import DemoloomWorldConfig

STARTS = [episode_seed(2, index) % 5 for index in range(3)]


@pytest.fixture
def robot(site, tmp_path):
    """A counter as a robot, made as LeRobot makes it and connected."""
    config = DemoloomWorldConfig(world="reality:counting_task:COUNTING", seed=2, calibration_dir=tmp_path / "motors")
    made = make_robot_from_config(config)
    made.connect()
    yield made
    if made.is_connected:
        made.disconnect()


@pytest.fixture
def dataset(robot, tmp_path):
    """Makes an empty dataset for that robot."""

    def create(fps=10):
        features = hw_to_dataset_features(robot.observation_features, "observation", use_video=False)
        features |= hw_to_dataset_features(robot.action_features, "action")
        return LeRobotDataset.create("local/counts", fps, features, root=tmp_path / "data", use_videos=False)

    return create


def record(robot, dataset, num_rows=2):
    """Add rows as lerobot-record does; what the robot showed first."""
    first = robot.get_observation()["count.pos"]
    for _ in range(num_rows):
        shown = robot.get_observation()
        robot.send_action({"add.pos": 1.0})
        row = {"observation.state": np.array([shown["count.pos"]], np.float32), "action": np.ones(1, np.float32)}
        dataset.add_frame({**row, "observation.images.top": shown["top"], "task": "count"})
    return first


def test_what_it_shows_and_takes_is_what_it_says(robot):
    shown = robot.get_observation()
    assert robot.observation_features == {"count.pos": float, "top": (16, 16, 3)}
    assert {"count.pos": type(shown["count.pos"]), "top": shown["top"].shape} == robot.observation_features
    assert robot.action_features == {"add.pos": float}
    assert list(robot.cameras) == ["top"]


def test_an_action_is_one_step_and_looking_is_none(robot):
    start = robot.get_observation()["count.pos"]
    assert start == robot.get_observation()["count.pos"] == STARTS[0]
    robot.send_action({"add.pos": 1.0})
    assert robot.get_observation()["count.pos"] == start + 1
    assert robot.get_observation()["top"][0, 0].tolist() == [8 * (start + 1), 0, 0]


def test_an_action_beyond_the_bounds_is_sent_clipped_and_said_so(robot):
    assert robot.send_action({"add.pos": 5.0}) == {"add.pos": 1.0}
    assert robot.get_observation()["count.pos"] == STARTS[0] + 1


def test_an_action_without_a_joint_is_refused_by_name(robot):
    with pytest.raises(SpecMismatch, match=r"sent add.pos, got count.pos: add.pos missing"):
        robot.send_action({"count.pos": 1.0})


def test_after_an_episode_is_saved_the_next_starts_anew(robot, dataset):
    made, firsts = dataset(), []
    for _ in range(3):
        firsts.append(record(robot, made))
        made.save_episode(parallel_encoding=False)
    assert firsts == STARTS
    assert len(set(STARTS)) > 1  # or nothing would be shown here
    made.finalize()


def test_an_episode_that_is_recorded_again_starts_as_before(robot, dataset):
    made = dataset()
    first = record(robot, made)
    made.clear_episode_buffer()
    assert record(robot, made) == first == STARTS[0]
    made.save_episode(parallel_encoding=False)
    assert robot.get_observation()["count.pos"] == STARTS[1]
    made.finalize()


def test_one_that_does_not_restart_goes_on_where_an_episode_ended(robot, dataset):
    robot.config.restarts = False
    made = dataset()
    record(robot, made)
    made.save_episode(parallel_encoding=False)
    assert record(robot, made) == STARTS[0] + 2
    made.clear_episode_buffer()
    assert robot.get_observation()["count.pos"] == STARTS[0] + 4
    made.finalize()


def test_a_dataset_of_another_rate_is_refused_at_its_first_frame(robot, dataset):
    made = dataset(fps=30)
    with pytest.raises(SpecMismatch, match=r"10 steps a second .* stamped at 30; give --dataset.fps=10"):
        record(robot, made)
    assert not made.has_pending_frames()


def test_once_disconnected_it_leaves_lerobot_as_it_was(robot, dataset):
    record(robot, watched := dataset())
    watched.clear_episode_buffer()
    robot.disconnect()
    assert [getattr(LeRobotDataset, name).__module__ for name in ("add_frame", "save_episode")] == [
        "lerobot.datasets.lerobot_dataset"
    ] * 2
    assert not hasattr(LeRobotDataset.add_frame, "__wrapped__")


def test_it_is_connected_once_and_no_more_driven_after(robot):
    with pytest.raises(DeviceAlreadyConnectedError):
        robot.connect()
    robot.disconnect()
    with pytest.raises(DeviceNotConnectedError, match="call connect"):
        robot.get_observation()


def test_the_same_seed_and_actions_show_the_same_bytes_after_connecting_anew(robot):
    def drive():
        frames = [robot.get_observation()["top"]]
        for add in (1.0, -0.5):
            robot.send_action({"add.pos": add})
            frames.append(robot.get_observation()["top"])
        return np.stack(frames)

    first = drive()
    robot.disconnect()
    robot.connect()
    assert np.array_equal(first, drive())
