import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.testing import CountingWorld
from demoloom.storage import ConfigError
from demoloom.teleop.driving import Drive, KeptTakes, no_starts, take_spec
from demoloom.teleop.driving.beside import Beside

START = {"block_pose.x": 300.0, "block_pose.y": 200.0, "block_pose.cos": 0.0, "block_pose.sin": 1.0}


class Imagined(PushTReality):
    """Physics in the place of a learned world: it always starts at `START`, and knows it."""

    def reset(self, *, seed=None, options=None):
        labels = {"block_pose": np.array([list(START.values())], np.float32)}
        start = {"observation.state": np.array([[100, 100]], np.float32), "labels": labels}
        observation, info = super().reset(seed=seed, options={"start": start})
        return observation, {**info, "start": {name: np.array([value]) for name, value in START.items()}}


@pytest.fixture
def drive(tmp_path) -> Drive:
    world = Imagined(1)
    return Drive(
        world, KeptTakes(tmp_path / "takes", take_spec(world)), no_starts(), make_reality=lambda: PushTReality(1)
    )


def test_reality_starts_where_the_world_did_and_does_what_it_does(drive: Drive) -> None:
    drive.tick(np.array([200.0, 150.0]))
    seen = drive.show_reality(True)
    for target in ([250.0, 200.0], [300.0, 260.0], [320.0, 300.0]):
        assert seen.reality is not None
        assert np.array_equal(seen.frames["top"], seen.reality["top"])
        seen = drive.tick(np.array(target))


def test_reality_goes_back_with_the_world(drive: Drive) -> None:
    drive.show_reality(True)
    for target in ([200.0, 150.0], [300.0, 260.0], [320.0, 300.0]):
        drive.tick(np.array(target))
    seen = drive.undo(2)
    assert seen.reality is not None
    assert np.array_equal(seen.frames["top"], seen.reality["top"])


def test_reality_stays_beside_the_next_start_until_it_is_put_away(drive: Drive) -> None:
    drive.show_reality(True)
    assert drive.start().reality is not None
    assert drive.show_reality(False).reality is None


def test_a_start_of_which_too_little_is_known_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"block_pose\.sin is not known"):
        Beside(PushTReality(1), np.zeros(2, np.float32), {name: START[name] for name in list(START)[:3]})


def test_a_world_without_a_reality_says_so(tmp_path) -> None:
    world = CountingWorld(1)
    drive = Drive(world, KeptTakes(tmp_path / "takes", take_spec(world)), no_starts())
    with pytest.raises(ConfigError, match="there is no reality"):
        drive.show_reality(True)


def test_physics_stands_where_the_labels_of_a_start_say() -> None:
    labels = {"block_pose": np.array([list(START.values())], np.float32)}
    start = {"observation.state": np.array([[100, 120]], np.float32), "labels": labels}
    observation, info = PushTReality(1).reset(seed=[0], options={"start": start})
    assert observation["observation.state"].tolist() == [[100, 120]]
    assert np.allclose(info["labels"]["block_pose"], labels["block_pose"], atol=1e-4)
