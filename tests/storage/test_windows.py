"""Windows of both formats; frame, state and action of row t of `numbered_episode` say which row they are of."""

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import BatchSampler, DataLoader

from demoloom.storage import Camera, ConfigError, EpisodeSpec, Vector
from demoloom.storage.row_table import join_episodes, read_table
from demoloom.storage.testing import numbered_episode
from demoloom.storage.windows import WindowDataset

from .stored import CODECS, store

DELTAS = {"observation.images.top": (-1, 0), "observation.state": (-1, 0), "action": (0, 1, 2, 3)}


@pytest.fixture(params=CODECS)
def reader(request, tmp_path, spec, make_episode):
    return store(tmp_path / "data", request.param, spec, [make_episode(0, 5), make_episode(1, 3)])


@pytest.fixture(params=[None, 0], ids=["in memory", "on disk"])
def windows(request, reader):
    return WindowDataset(read_table(reader, memory_bytes=request.param), DELTAS)


def test_a_window_says_what_was_seen_before_and_now_and_what_was_done_then(windows, make_episode):
    window = windows[6]  # row 1 of episode 1
    frames = make_episode(1, 3).images["top"][[0, 1]]
    assert (255 * window["observation.images.top"]).round().tolist() == frames.transpose(0, 3, 1, 2).tolist()
    assert window["observation.state"].tolist() == [[1, 0], [1, 1]]
    assert window["action"].tolist() == [[1, 1], [2, 1], [2, 1], [2, 1]]
    assert window["action_is_pad"].tolist() == [False, False, True, True]
    assert window["observation.images.top_is_pad"].tolist() == [False, False]
    assert (window["index"], window["episode_index"], window["frame_index"]) == (6, 1, 1)
    assert window["timestamp"] == pytest.approx(0.1)
    assert window["task"] == "push the block"


def test_an_action_changes_the_frame_of_the_next_row_and_no_earlier(tmp_path, spec, make_episode):
    """A world shows at t + 1 what was commanded at t; here the light goes on with the one action of 100 at t = 4."""
    episode = make_episode(0, 9)
    impulse = np.zeros((9, 2), np.float32)
    impulse[4] = 100
    lights = {name: np.zeros_like(frames) for name, frames in episode.images.items()}
    for frames in lights.values():
        frames[5] = 255
    for kind in CODECS:
        reader = store(tmp_path / kind, kind, spec, [replace(episode, images=lights, action=impulse)])
        for memory_bytes in (None, 0):
            table = read_table(reader, memory_bytes=memory_bytes)
            window = WindowDataset(table, {"observation.images.top": (-1, 0, 1), "action": (-1, 0, 1)})[4]
            assert window["observation.images.top"].amax((1, 2, 3)).tolist() == [0, 0, 1]
            assert window["action"][:, 0].tolist() == [0, 100, 0]


def test_images_may_stay_uint8(reader):
    table = read_table(reader)
    frames = WindowDataset(table, DELTAS, as_float=False)[6]["observation.images.top"]
    assert frames.dtype == torch.uint8
    assert frames.shape == (2, 3, 16, 24)


def test_a_column_without_deltas_has_no_axis_for_time(windows):
    single = WindowDataset(windows.table, {"observation.images.top": None, "label.pose": None})[3]
    assert single["observation.images.top"].shape == (3, 16, 24)
    assert single["label.pose"].tolist() == [-0.5]
    assert "label.pose_is_pad" not in single


def test_only_the_rows_asked_for_have_windows(windows):
    some = WindowDataset(windows.table, DELTAS, rows=np.array([7, 2]))
    assert len(some) == 2
    assert [int(some[0]["index"]), int(some[1]["index"])] == [7, 2]


def test_a_column_that_is_not_there_is_named(windows):
    with pytest.raises(ConfigError, match=r"no column 'observation\.force'.*'action'"):
        WindowDataset(windows.table, {"observation.force": (0,)})


# Python warns of forks beside threads, which other tests may have left; torch forks its workers all the same.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork")
@pytest.mark.parametrize("kind", CODECS)
@pytest.mark.parametrize("workers", [None, "fork"])
def test_a_loader_gives_the_same_batches_from_any_worker(tmp_path, spec, make_episode, kind, workers):
    check_loader(store(tmp_path / "data", kind, spec, [make_episode(0, 5), make_episode(1, 3)]), workers)


def test_a_loader_with_a_batch_sampler_gets_whole_batches(windows):
    (batch,) = DataLoader(windows, batch_size=None, sampler=BatchSampler([6, 2], 2, drop_last=False))
    assert batch["index"].tolist() == [6, 2]
    assert batch["task"] == ["push the block"] * 2


@pytest.mark.parametrize("kind", ["zarr", "lerobot"])
def test_a_spawned_worker_too(tmp_path, spec, make_episode, kind):
    check_loader(store(tmp_path / "data", kind, spec, [make_episode(0, 5), make_episode(1, 3)]), "spawn")


def check_loader(reader, workers):
    windows = WindowDataset(read_table(reader, memory_bytes=0), DELTAS)
    windows[0]  # the files of this process are open
    order = [7, 0, 3, 3, 6, 1, 2, 5]
    loader = DataLoader(
        windows, batch_size=3, sampler=order, num_workers=1 if workers else 0, multiprocessing_context=workers
    )
    for number, batch in enumerate(loader):
        expected = windows.batch(order[3 * number : 3 * number + 3])
        assert batch.keys() == expected.keys()
        for name, values in expected.items():
            assert values == batch[name] if name == "task" else torch.equal(values, batch[name]), name


POINT = Vector(("x", "y"), (0.0, 0.0), (100.0, 100.0))
SPEC = EpisodeSpec(10, (Camera("top", 2, 3),), POINT, POINT, {"pose": Vector(("angle",), (-1.0,), (1.0,))}, "stand-in")
LENGTHS = st.lists(st.integers(1, 6), min_size=1, max_size=4)
SOME_DELTAS = st.lists(st.integers(-8, 8), min_size=1, max_size=5)


@settings(deadline=None, max_examples=50)
@given(LENGTHS, SOME_DELTAS, SOME_DELTAS, st.data())
def test_windows_are_those_of_a_naive_loop(lengths, seen, done, data):
    episodes = [numbered_episode(SPEC, index, length) for index, length in enumerate(lengths)]
    windows = WindowDataset(join_episodes(SPEC, episodes), {"observation.images.top": seen, "action": done})
    items = data.draw(st.lists(st.integers(0, len(windows) - 1), min_size=1, max_size=6))
    batch = windows.batch(items)
    where = [(episode, row) for episode in episodes for row in range(len(episode))]
    for place, item in enumerate(items):
        episode, row = where[item]
        for name, source, deltas in (
            ("observation.images.top", episode.images["top"].transpose(0, 3, 1, 2) / np.float32(255), seen),
            ("action", episode.action, done),
        ):
            for position, delta in enumerate(deltas):
                held = min(max(row + delta, 0), len(episode) - 1)
                assert np.array_equal(batch[name][place, position].numpy(), source[held])
                assert bool(batch[f"{name}_is_pad"][place, position]) == (held != row + delta)


PLAIN_LEROBOT = """
import sys
import numpy as np
from lerobot.datasets import LeRobotDataset
deltas = {"observation.images.top": [-0.1, 0.0], "observation.state": [-0.1, 0.0], "action": [0.0, 0.1, 0.2, 0.3]}
data = LeRobotDataset("local/x", root=sys.argv[1], delta_timestamps=deltas, video_backend="pyav")
rows = [data[number] for number in range(len(data))]
names = [*deltas, *(f"{name}_is_pad" for name in deltas), "index", "episode_index", "frame_index", "timestamp"]
np.savez(sys.argv[2], **{name: np.stack([row[name].numpy() for row in rows]) for name in names})
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lerobot", "lerobot-images"])
def test_windows_are_those_of_plain_lerobot(tmp_path, spec, make_episode, kind):
    reader = store(
        tmp_path / "data", kind, spec, [make_episode(index, length) for index, length in enumerate((7, 1, 12))]
    )
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    arguments = [sys.executable, "-c", PLAIN_LEROBOT, str(reader.path), str(tmp_path / "plain.npz")]
    subprocess.run(arguments, env=environment, check=True, capture_output=True)
    with np.load(tmp_path / "plain.npz") as plain:
        batch = WindowDataset(read_table(reader, memory_bytes=0), DELTAS).batch(range(20))
        for name in plain:
            np.testing.assert_array_equal(plain[name], batch[name].numpy(), err_msg=name)


def test_the_example_of_the_documentation_runs(tmp_path, spec, make_episode, monkeypatch):
    store(tmp_path / "data", "zarr", spec, [make_episode(0, 40)])
    page = Path(__file__).parents[2] / "docs" / "training-data.md"
    (example,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names: dict[str, torch.Tensor] = {}
    exec(example, names)
    assert names["images"].shape == (32, 2, 3, 16, 24)
    assert names["actions"].shape == (32, 16, 2)
    assert names["mask"].dtype == torch.bool
