import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.testing import CountingWorld, StreamContract
from demoloom.storage.errors import CheckpointError, ConfigError, StoreError
from demoloom.storage.zarr_store import ZarrStore
from demoloom.teleop import Retarget
from demoloom.teleop.pusht import PUSHT
from demoloom.teleop.pusht.sight import read_pose
from demoloom.teleop.pusht.task import retarget
from demoloom.teleop.retarget import carried

from .recordings import SPEC, observed, recorded, write

#: A probe for frames that show a place: an object there, not turned.
SHOWN: dict[str, Any] = {"label": "pose", "point": ("x", "y")}


def read_shown(frames):
    places = frames[:, 0, 0, :2].astype(np.float32)
    return {"pose": np.column_stack([places, np.ones(len(places)), np.zeros(len(places))]).astype(np.float32)}


def pose(x, y, degrees):
    angle = np.deg2rad(degrees)
    return np.array([x, y, np.cos(angle), np.sin(angle)])


@pytest.fixture
def demonstration(tmp_path):
    """A dataset in which the robot goes from (30, 40) to (60, 40), past an object at (10, 20)."""
    path = [(30.0, 40.0), (40.0, 40.0), (50.0, 40.0), (60.0, 40.0)]
    return write(tmp_path / "one", [recorded(0, path)])


class TestRetarget(StreamContract):
    @pytest.fixture(autouse=True)
    def demonstrations(self, tmp_path):
        # One that goes round the T, and which is called a success.
        world = PushTReality(1)
        observation, _ = world.reset(seed=[0])
        states = [tuple(observation["observation.state"][0] + 3.0 * step) for step in range(4)]
        spec = world.episode_spec
        episode = replace(
            recorded(0, states),
            images={"top": np.repeat(observation["observation.images.top"], 4, axis=0)},
            labels={"block_pose": np.zeros((4, 4), np.float32)},
        )
        store = ZarrStore.create(tmp_path / "pusht", spec)
        store.append(episode)
        self.path = str(store.path)

    def make(self):
        settings = retarget(self.path, "").kwargs
        return Retarget(PushTReality(1).episode_spec, **{**settings, "probe": read_pose})

    def make_world(self, num_envs):
        return PushTReality(num_envs)


def test_a_path_turns_and_moves_with_the_object():
    # The object has gone from (10, 20) to (50, 50) and turned by 90 degrees: right of it is now below it.
    path = np.array([[10.0, 20.0, 7.0], [13.0, 20.0, 8.0]])
    found = carried(path, pose(10, 20, 0), pose(50, 50, 90), (0, 1), "object")
    np.testing.assert_allclose(found, [[50, 50, 7], [50, 53, 8]], atol=1e-9)


def test_a_path_that_ends_in_the_world_begins_with_the_object_and_ends_where_it_did():
    path = np.array([[10.0, 20.0], [20.0, 20.0], [30.0, 20.0]])
    found = carried(path, pose(10, 20, 0), pose(18, 20, 0), (0, 1), "world")
    np.testing.assert_allclose(found, [[18, 20], [24, 20], [30, 20]], atol=1e-9)


def test_a_demonstration_is_played_relative_to_where_the_object_lies_now(demonstration):
    stream = Retarget(SPEC, demonstration, read_shown, **SHOWN, ends="object", pace=10.0)
    stream.reset([0], np.ones(1, bool))
    # The object lies 5 further right than in the demonstration.
    given = [stream.act(observed((35, 40), shown=(15, 20)))[0].tolist() for _ in range(4)]
    assert given == [[45, 40], [55, 40], [65, 40], [65, 40]]
    assert stream.finished().tolist() == [True]


def test_it_first_goes_straight_to_where_the_moved_demonstration_begins(demonstration):
    # From (30, 20) to (30, 40) at half a range of 100 in each second of ten steps: 5 a step.
    stream = Retarget(SPEC, demonstration, read_shown, **SHOWN, pace=0.5)
    stream.reset([0], np.ones(1, bool))
    given = [stream.act(observed((30, 20)))[0].tolist() for _ in range(4)]
    assert given == [[30, 25], [30, 30], [30, 35], [40, 40]]


def test_a_demonstration_from_a_similar_start_is_taken(tmp_path):
    there = [recorded(0, [(30.0, 40.0), (31.0, 40.0)], shown=(80, 80))]
    here = [recorded(1, [(30.0, 40.0), (32.0, 40.0)], shown=(22, 20))]
    path = write(tmp_path / "two", there + here)

    def ends(among):
        stream = Retarget(SPEC, path, read_shown, **SHOWN, among=among, pace=10.0)
        stream.reset(list(range(20)), np.ones(20, bool))
        seen = observed(*[(30, 40)] * 20, shown=(20, 20))
        stream.act(seen)
        return {tuple(action) for action in stream.act(seen).tolist()}

    assert ends(among=1) == {(32, 40)}
    assert ends(among=2) == {(32, 40), (31, 40)}


def test_failed_episodes_are_not_carried_over(tmp_path):
    path = write(tmp_path / "failed", [recorded(0, [(1.0, 1.0)], outcome="failure", reason="it fell")])
    with pytest.raises(StoreError, match="has no successful episode to carry over"):
        Retarget(SPEC, path, read_shown, **SHOWN)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"point": ("x", "z")}, r"point of retarget names two of the actions x, y, got \('x', 'z'\)"),
        ({"point": ("x",)}, r"point of retarget names two of the actions x, y, got \('x',\)"),
        ({"ends": "nowhere"}, "ends of retarget is one of world, object, got 'nowhere'"),
        ({"among": 0}, "among of retarget must be at least 1 demonstration, got 0"),
        ({"pace": 0.0}, r"pace of retarget must lie in \(0, 10\] ranges a second, got 0.0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(demonstration, settings, message):
    with pytest.raises(ConfigError, match=message):
        Retarget(SPEC, demonstration, read_shown, **(SHOWN | settings))


def test_actions_that_are_no_positions_are_refused(tmp_path):
    with pytest.raises(
        ConfigError, match="the actions of this world are not of the same kind as its state; use replay"
    ):
        Retarget(CountingWorld(1).episode_spec, str(tmp_path), read_shown, "pose", ("add", "add"))


def test_a_probe_that_is_not_there_is_named(demonstration, tmp_path):
    with pytest.raises(CheckpointError, match="no probe at "):
        Retarget(SPEC, demonstration, str(tmp_path / "none"), **SHOWN)


def test_pusht_says_how_it_is_carried_over_as_plain_data():
    assert PUSHT.retarget is retarget
    named = retarget("demonstrations", "world/probe")
    assert json.loads(json.dumps(asdict(named))) == asdict(named)
    assert named.kwargs["ends"] == "world"
