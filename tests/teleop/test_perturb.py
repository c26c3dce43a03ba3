import numpy as np
import pytest

from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.stream import Correcting
from demoloom.generators.testing import StreamContract
from demoloom.storage.errors import ConfigError, PluginError
from demoloom.teleop import Idle, Perturb

from .recordings import SPEC, observed, recorded, write

STILL = {"name": "idle", "kwargs": {"park": 0.0}}


class TestPerturb(StreamContract):
    def make(self):
        return Perturb(PushTReality(1).episode_spec, {"name": "pusht-seek"}, every=2)

    def make_world(self, num_envs):
        return PushTReality(num_envs)


def driven(stream, steps, place=(50.0, 50.0), seed=0):
    """The actions given and the corrective ones (steps, 2), at one place."""
    stream.reset([seed], np.ones(1, bool))
    pairs = [(stream.act(observed(place))[0], stream.corrective()[0]) for _ in range(steps)]
    return np.array([given for given, _ in pairs]), np.array([right for _, right in pairs])


def test_what_is_recorded_is_what_the_stream_itself_does():
    given, right = driven(Perturb(SPEC, STILL, every=5), 100)
    assert isinstance(Perturb(SPEC, STILL), Correcting)
    assert (right == 50).all()
    assert 0.2 < (given != 50).any(axis=1).mean() < 0.7


def test_pushes_last_as_long_as_is_said_and_come_about_as_often():
    given, _ = driven(Perturb(SPEC, STILL, size=0.05, every=20, steps=(3, 4)), 3000)
    pushed = (given != 50).any(axis=1)
    begins = np.flatnonzero(np.diff(pushed.astype(int)) == 1)
    lengths = [np.flatnonzero(~pushed[begin + 1 :])[0] for begin in begins[:-1]]
    assert set(lengths) == {3, 4}
    assert 17 < len(pushed) / len(begins) - 3.5 < 23
    assert (given[begins + 1] == given[begins + 2]).all()


def test_pushes_are_as_strong_as_is_said_and_stay_within_the_bounds():
    weak, strong = (driven(Perturb(SPEC, STILL, size=size, every=1), 3000)[0] for size in (0.02, 0.5))
    assert 1.7 < weak[weak != 50].std() < 2.3
    assert (strong.min(), strong.max()) == (0, 100)


def test_the_seed_alone_decides_the_pushes():
    first, again, other = (driven(Perturb(SPEC, STILL, every=3), 50, seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_pushed_replay_goes_back_to_where_it_was_and_comes_to_its_end(tmp_path):
    path = write(tmp_path / "line", [recorded(0, [(10.0 + 2 * step, 20.0) for step in range(30)])])
    replayed = {"name": "replay", "kwargs": {"dataset": path, "tolerance": 0.03}}
    stream = Perturb(SPEC, replayed, size=0.3, every=8, steps=(1, 2))
    stream.reset([3], np.ones(1, bool))
    place, pushed = np.array([10.0, 20.0]), 0
    places: list[np.ndarray] = []
    while not stream.finished()[0] and len(places) < 200:
        action = stream.act(observed(tuple(place)))[0]
        pushed += not np.array_equal(action, stream.corrective()[0])
        place = place + np.clip(action - place, -8, 8)
        places.append(place)
    off = np.abs(np.array(places)[:, 1] - 20)
    assert pushed >= 3
    assert off.max() > 3
    assert 30 < len(places) < 120
    assert np.abs(place - (68, 20)).max() < 10


def test_it_is_finished_when_the_stream_is(tmp_path):
    path = write(tmp_path / "short", [recorded(0, [(10.0, 20.0)])])
    stream = Perturb(SPEC, {"name": "replay", "kwargs": {"dataset": path}})
    stream.reset([0], np.ones(1, bool))
    stream.act(observed((10, 20)))
    assert stream.finished().tolist() == [True]
    assert not isinstance(Idle(SPEC), Correcting)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"size": 0.0}, "size of perturb is a share of the action's range, above 0 and at most 1, got 0.0"),
        ({"every": 0}, "every of perturb must be at least 1 step, got 0"),
        ({"steps": (3, 2)}, r"steps of perturb must be \(least, greatest\), at least 1 step, got \(3, 2\)"),
        ({"steps": (2,)}, r"steps of perturb must be \(least, greatest\), at least 1 step, got \(2,\)"),
    ],
)
def test_a_number_that_cannot_be_used_is_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        Perturb(SPEC, STILL, **settings)


def test_a_stream_that_cannot_be_used_is_named():
    with pytest.raises(ConfigError, match=r"the stream of perturb has a name and may have kwargs, got \{'nam'"):
        Perturb(SPEC, {"nam": "idle"})
    with pytest.raises(PluginError, match="no plug-in 'ghost'"):
        Perturb(SPEC, {"name": "ghost"})
