from dataclasses import replace

import numpy as np
import pytest

from demoloom.generators import RolloutPlan, rollout
from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.recorded_starts import RecordedStarts
from demoloom.generators.testing import CountingWorld, RandomCounts, StreamContract
from demoloom.storage.errors import ConfigError, SpecMismatch, StoreError
from demoloom.storage.plugins import PluginRef
from demoloom.storage.zarr_store import ZarrStore
from demoloom.teleop import Replay

from .recordings import SPEC, observed, recorded, write

LINE = [(10.0, 20.0), (12.0, 20.0), (14.0, 20.0), (16.0, 20.0)]


@pytest.fixture
def line(tmp_path):
    """A dataset of one episode that goes from x = 10 to x = 16."""
    return write(tmp_path / "line", [recorded(0, LINE)])


def counted(path, num_episodes=5, length=6):
    """Episodes of a counter that random numbers were added to, and the world and the folder of them."""
    world = CountingWorld(2)
    stream = RandomCounts(world.episode_spec, -1.0, 1.0, length)
    store = ZarrStore.create(path, world.episode_spec)
    for episode in rollout(world, stream, plan(), range(num_episodes)):
        store.append(episode)
    return store


def plan(**changes):
    nobody = PluginRef("streams", "idle")
    return RolloutPlan("test", PluginRef("worlds", "counting"), nobody, 1, 50, num_slots=2, **changes)


def started(stream, seeds=(0,)):
    stream.reset(list(seeds), np.ones(len(seeds), bool))
    return stream


class TestReplay(StreamContract):
    @pytest.fixture(autouse=True)
    def recordings(self, tmp_path):
        self.path = str(counted(tmp_path / "recorded", length=9).path)

    def make(self):
        return Replay(CountingWorld(1).episode_spec, self.path, max_start_distance=1.0)

    def make_world(self, num_envs):
        return CountingWorld(num_envs)


def test_the_start_and_the_actions_of_one_seed_are_of_the_same_episode_and_make_it_again(tmp_path):
    store = counted(tmp_path / "recorded")
    world, starts = CountingWorld(2), RecordedStarts(str(store.path), 2)
    again = list(rollout(world, Replay(world.episode_spec, str(store.path)), plan(), range(10, 18), starts))
    originals = {tuple(episode.action[:, 0]): episode for episode in store}
    assert len(again) == 8
    for episode in again:
        original = originals[tuple(episode.action[:, 0])]
        assert np.array_equal(episode.state, original.state)
        assert np.array_equal(episode.images["top"], original.images["top"])
        assert np.array_equal(episode.score, original.score)
    assert len({tuple(episode.action[:, 0]) for episode in again}) > 1


def test_it_is_finished_with_the_last_recorded_action(line):
    stream = started(Replay(SPEC, line))
    given = []
    for place in LINE:
        assert stream.finished().tolist() == [False]
        given.append(stream.act(observed(place))[0].tolist())
    assert given == [[12, 20], [14, 20], [16, 20], [16, 20]]
    assert stream.finished().tolist() == [True]


def test_the_last_action_is_held_for_as_long_as_is_said(line):
    stream = started(Replay(SPEC, line, hold=2))
    for step in range(6):
        assert stream.finished().tolist() == [False]
        assert step < 3 or stream.act(observed((16, 20)))[0].tolist() == [16, 20]
        if step < 3:
            stream.act(observed(LINE[step]))
    assert stream.finished().tolist() == [True]


def test_a_robot_that_is_off_its_path_is_led_back_to_where_it_left_it(line):
    stream = started(Replay(SPEC, line))
    places = [(10, 20), (12, 27), (12, 24), (12, 20), (14, 20), (16, 20)]
    given = [stream.act(observed(place))[0].tolist() for place in places]
    # 7 off is more than 5 % of 100, 4 is not: then the recorded action of that step is due.
    assert given == [[12, 20], [12, 20], [14, 20], [16, 20], [16, 20], [16, 20]]


def test_patience_ends_and_comes_back_on_the_path(tmp_path):
    path = write(tmp_path / "long", [recorded(0, [(float(x), 20.0) for x in range(10, 30, 2)])])
    stream = started(Replay(SPEC, path, patience=2))
    stream.act(observed((10, 20)))
    # At step 1 it waits twice for x = 12; then steps 1 and 2 go on from wherever it is.
    assert [stream.act(observed((12, 90)))[0, 0] for _ in range(4)] == [12, 12, 14, 16]
    # Back on its path at step 3, it may be led back again.
    assert stream.act(observed((16, 20)))[0, 0] == 18
    assert stream.act(observed((18, 90)))[0, 0] == 18


def test_without_patience_the_actions_come_as_they_were_recorded(line):
    stream = started(Replay(SPEC, line, patience=0))
    assert [stream.act(observed((10, 20) if step == 0 else (90, 90)))[0, 0] for step in range(3)] == [12, 14, 16]


def test_another_start_than_the_recorded_one_is_refused_with_both_and_the_remedy(line):
    stream = started(Replay(SPEC, line))
    with pytest.raises(ConfigError, match=r"'recorded-0' of .*, where x, y is \[10.0, 20.0\], and found \[13"):
        stream.act(observed((13, 20)))
    anywhere = started(Replay(SPEC, line, max_start_distance=1.0))
    assert anywhere.act(observed((13, 20)))[0].tolist() == [12, 20]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tolerance": 0.0}, "tolerance of replay is a share of the state's range, above 0 and at most 1, got 0.0"),
        ({"max_start_distance": 1.5}, r"max_start_distance of replay is a share .* got 1.5"),
        ({"patience": -1}, "patience of replay is a number of steps, 0 or more, got -1"),
        ({"hold": -1}, "hold of replay is a number of steps, 0 or more, got -1"),
    ],
)
def test_a_number_that_cannot_be_used_is_named(line, settings, message):
    with pytest.raises(ConfigError, match=message):
        Replay(SPEC, line, **settings)


def test_recordings_of_another_robot_or_rate_are_refused_with_what_differs(line):
    with pytest.raises(SpecMismatch, match="action is x, y there and target_x, target_y here"):
        Replay(PushTReality(1).episode_spec, line)
    with pytest.raises(SpecMismatch, match=r"fps is 10 there and 20 here \(`demoloom retime`"):
        Replay(replace(SPEC, fps=20), line)


def test_a_dataset_that_is_not_there_or_empty_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"there is no dataset at .*nowhere"):
        Replay(SPEC, str(tmp_path / "nowhere"))
    with pytest.raises(StoreError, match="has no episode for replay to take actions from"):
        Replay(SPEC, write(tmp_path / "empty", []))
