import numpy as np
import pytest

from demoloom.pipeline.cli import main
from demoloom.pipeline.commands.record import parse_settings
from demoloom.storage.dataset import open_dataset
from demoloom.storage.errors import ConfigError, DeviceError


class Leaves:
    """Somebody who gives up after 3 steps and goes, or whose device does, in the third episode."""

    def __init__(self, spec, error):
        self._error, self._num_acts = error, 0

    def reset(self, seeds, mask):
        assert mask.tolist() == [True]

    def act(self, observation):
        self._num_acts += 1
        if self._num_acts == 8:
            raise KeyboardInterrupt if self._error == "ctrl-c" else DeviceError("the arm is gone")
        return np.zeros((1, 2), np.float32)

    def finished(self):
        return np.array([self._num_acts % 3 == 0])


def record(out, *arguments):
    return main(["record", "--world", "reality:pusht", "--out", str(out), *arguments])


def test_every_episode_is_kept_with_how_it_ended(tmp_path, capsys):
    assert not record(tmp_path / "out", "--stream", "random", "--num-episodes", "2", "--max-steps", "3")
    made = list(open_dataset(tmp_path / "out"))
    assert [(len(episode.action), episode.outcome) for episode in made] == [(3, "failure"), (3, "failure")]
    assert "episode 1, failure: not solved within 3 steps" in capsys.readouterr().err


def test_settings_reach_the_stream_and_the_seed_its_world(tmp_path):
    arguments = ("--stream", "idle", "--settings", "park=0", "--num-episodes", "1", "--max-steps", "2")
    for name in ("first", "again"):
        record(tmp_path / name, *arguments, "--seed", "3", "--format", "zarr")
    (first,), (again,) = (list(open_dataset(tmp_path / name)) for name in ("first", "again"))
    assert np.array_equal(first.action[0], first.state[0])  # held, not parked
    assert np.array_equal(first.images["top"], again.images["top"])


@pytest.mark.parametrize(("error", "said"), [("ctrl-c", "by Ctrl-C"), ("unplugged", "the arm is gone")])
def test_episodes_that_had_ended_are_kept_where_a_person_or_a_device_leaves(tmp_path, capsys, error, said):
    stream = f"{__name__}:Leaves"
    assert not record(tmp_path / "out", "--stream", stream, "--settings", f"error={error}", "--num-episodes", "9")
    assert len(open_dataset(tmp_path / "out")) == 2
    assert f"wrote 2 episodes to {tmp_path / 'out'}; stopped early: {said}" in capsys.readouterr().err


def test_a_setting_is_json_or_text():
    assert parse_settings(("port=/dev/ttyACM0", "use_degrees=true", 'joints={"x": "y"}')) == {
        "port": "/dev/ttyACM0",
        "use_degrees": True,
        "joints": {"x": "y"},
    }
    with pytest.raises(ConfigError, match="written name=value, got 'port'"):
        parse_settings(("port",))


def test_what_lies_there_is_not_written_over(tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    assert record(tmp_path / "out", "--stream", "random") == 2
    assert "exists already" in capsys.readouterr().err
