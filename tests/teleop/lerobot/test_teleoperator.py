import pytest
from lerobot.robots import make_robot_from_config
from lerobot.teleoperators import make_teleoperator_from_config
from lerobot.utils.errors import DeviceNotConnectedError

from demoloom.generators.seeds import episode_seed
from demoloom.storage.errors import ConfigError
from demoloom.teleop.lerobot.config_robot import DemoloomWorldConfig
from demoloom.teleop.lerobot.config_teleoperator import DemoloomStreamConfig


class Follower:
    """Adds a tenth of what it sees, and remembers its starts."""

    def __init__(self, spec):
        self.resets = []

    def reset(self, seeds, mask):
        self.resets.append((list(seeds), mask.tolist()))

    def act(self, observation):
        return observation["observation.state"] / 10


@pytest.fixture
def robot(site, tmp_path):
    config = DemoloomWorldConfig(world="reality:counting_task:COUNTING", seed=2, calibration_dir=tmp_path)
    made = make_robot_from_config(config)
    made.connect()
    yield made
    if made.is_connected:
        made.disconnect()


@pytest.fixture
def teleoperator(tmp_path):
    made = make_teleoperator_from_config(DemoloomStreamConfig(stream=f"{__name__}:Follower", calibration_dir=tmp_path))
    made.connect()
    yield made
    made.disconnect()


def test_a_stream_acts_on_what_the_world_shows_now(robot, teleoperator):
    for _ in range(3):
        shown = robot.get_observation()["count.pos"]
        action = teleoperator.get_action()
        assert action == {"add.pos": pytest.approx(shown / 10)}
        robot.send_action(action)
    assert teleoperator.action_features == robot.action_features


def test_a_stream_starts_anew_with_the_seed_of_the_episode_when_the_world_does(robot, teleoperator):
    teleoperator.get_action()
    teleoperator.get_action()
    robot._begin_next(None)
    teleoperator.get_action()
    robot._begin_again(None)
    teleoperator.get_action()
    first, second = episode_seed(2, 0), episode_seed(2, 1)
    assert teleoperator._stream.resets == [([seed], [True]) for seed in (first, second, second)]


def test_a_stream_without_a_world_says_which_robot_it_drives(robot, teleoperator):
    robot.disconnect()
    with pytest.raises(ConfigError, match=r"0 are connected; give --robot.type=demoloom_world"):
        teleoperator.get_action()


def test_what_is_not_connected_gives_no_action(robot, teleoperator):
    teleoperator.disconnect()
    with pytest.raises(DeviceNotConnectedError, match="call connect"):
        teleoperator.get_action()


def test_a_device_that_a_stream_reads_is_let_go_of(robot, site, tmp_path):
    settings = {"calibration_dir": str(tmp_path), "says": [0.25], "paced": False}
    config = DemoloomStreamConfig(stream="lerobot:scripted", settings=settings, calibration_dir=tmp_path)
    made = make_teleoperator_from_config(config)
    made.connect()
    assert made.get_action() == {"add.pos": 0.25}
    device = made._stream._device
    made.disconnect()
    assert not device.is_connected
