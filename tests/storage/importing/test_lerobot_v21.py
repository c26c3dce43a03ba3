import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demoloom.storage import Camera, ConfigError, StoreError, open_dataset
from demoloom.storage.atomic import locked_folder, publish_folder
from demoloom.storage.importing.foreign import ImportSettings
from demoloom.storage.importing.run import find_kind, import_dataset
from demoloom.storage.norm_stats import image_stats, pixel_histogram, vector_stats
from demoloom.storage.video import VideoCodec, VideoWriter

CAMERA = "observation.images.top"
PLAIN = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}


@pytest.fixture
def old_dataset(tmp_path, make_episode):
    """Two episodes as LeRobot 0.3 laid them out: a Parquet file and a video for each, JSON lines for the rest."""
    path = tmp_path / "pusht_v21"
    (path / "meta").mkdir(parents=True)
    episodes = [make_episode(0, length=7), make_episode(1, length=5)]
    first = 0
    for number, episode in enumerate(episodes):
        columns = _columns(episode, number, first)
        first += len(episode)
        data = path / f"data/chunk-000/episode_{number:06d}.parquet"
        data.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(
            pa.table({name: pa.array(values.tolist(), _type(values)) for name, values in columns.items()}), data
        )
        video = path / f"videos/chunk-000/{CAMERA}/episode_{number:06d}.mp4"
        video.parent.mkdir(parents=True, exist_ok=True)
        writer = VideoWriter(video, Camera("top", 16, 24), 10, VideoCodec())
        writer.write(episode.images["top"])
        writer.close()
        _append(path / "meta/episodes.jsonl", {"episode_index": number, "tasks": ["push"], "length": len(episode)})
        stats = {name: vector_stats(values) for name, values in columns.items()}
        stats[CAMERA] = image_stats(pixel_histogram(episode.images["top"]), len(episode))
        plain = {name: {stat: value.tolist() for stat, value in of.items()} for name, of in stats.items()}
        _append(path / "meta/episodes_stats.jsonl", {"episode_index": number, "stats": plain})
    _append(path / "meta/tasks.jsonl", {"task_index": 0, "task": "push"})
    (path / "meta/info.json").write_text(json.dumps(_info(first)))
    return path


def _columns(episode, number, first):
    steps = np.arange(len(episode))
    return {
        "observation.state": episode.state,
        "action": episode.action,
        "timestamp": (steps / 10).astype(np.float32),
        "frame_index": steps,
        "episode_index": np.full(len(episode), number),
        "index": steps + first,
        "task_index": np.zeros(len(episode), np.int64),
    }


def _type(values):
    plain = pa.from_numpy_dtype(values.dtype)
    return pa.list_(plain, values.shape[1]) if values.ndim == 2 else plain


def _append(path, line):
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")


def _info(num_rows):
    vector = {"dtype": "float32", "shape": [2], "names": ["x", "y"]}
    video = {
        "dtype": "video",
        "shape": [16, 24, 3],
        "names": ["height", "width", "channels"],
        "info": {"video.fps": 10},
    }
    return {
        "codebase_version": "v2.1",
        "robot_type": "stand-in",
        "total_episodes": 2,
        "total_frames": num_rows,
        "total_tasks": 1,
        "total_videos": 2,
        "total_chunks": 1,
        "chunks_size": 1000,
        "fps": 10,
        "splits": {"train": "0:2"},
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
        "video_path": "videos/chunk-{episode_chunk:03d}/{video_key}/episode_{episode_index:06d}.mp4",
        "features": {
            CAMERA: video,
            "observation.state": vector,
            "action": vector,
            **{name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in PLAIN.items()},
        },
    }


@pytest.mark.slow  # LeRobot takes ten seconds to import
@pytest.mark.filterwarnings("ignore")  # which are LeRobot's and those of what it imports
def test_a_dataset_of_version_21_keeps_its_rows_and_is_not_touched(tmp_path, old_dataset, make_episode):
    before = {file: file.read_bytes() for file in old_dataset.rglob("*") if file.is_file()}
    assert import_dataset(old_dataset, tmp_path / "out", "zarr") == 2
    out = open_dataset(tmp_path / "out")
    assert out.ids() == ["pusht_v21-000000", "pusht_v21-000001"]
    for episode, length in zip(out, (7, 5), strict=True):
        made = make_episode(episode.index, length=length)
        np.testing.assert_array_equal(episode.images["top"], made.images["top"])
        np.testing.assert_array_equal(episode.action, made.action)
        assert episode.task == "push"
    assert {file: file.read_bytes() for file in old_dataset.rglob("*") if file.is_file()} == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "pusht_v21"]

    (old_dataset / "meta/tasks.jsonl").unlink()
    with pytest.raises(StoreError, match=r"LeRobot cannot convert .*pusht_v21 from v2.1 \(FileNotFoundError"):
        import_dataset(old_dataset, tmp_path / "again", "zarr")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "pusht_v21"]


KILLED = """
import os, signal, sys
from pathlib import Path
from demoloom.storage.importing import lerobot_v21
lerobot_v21._convert = lambda root, path: os.kill(os.getpid(), signal.SIGKILL)
with lerobot_v21.open_lerobot_v21(Path(sys.argv[1]), Path(sys.argv[2])):
    pass
"""


def test_what_a_killed_import_left_goes_with_the_next_and_a_running_one_keeps_its_own(tmp_path, old_dataset):
    out = tmp_path / "work"
    out.mkdir()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, str(old_dataset), str(out)], check=False)
    left, running = out.iterdir()
    with locked_folder(running):  # as its import does while it lives
        for folder in (left, running):
            os.utime(folder, (0, 0))
        with publish_folder(out / "d"):
            pass
        assert {entry.name for entry in out.iterdir()} == {"d", running.name}
    assert (old_dataset / "meta/info.json").is_file()
    assert any((old_dataset / "data").rglob("*.parquet"))


def test_it_is_known_by_its_version_and_takes_no_settings(tmp_path, old_dataset):
    assert find_kind(old_dataset) == "lerobot-v2.1"
    with pytest.raises(ConfigError, match="says all of itself"):
        import_dataset(old_dataset, tmp_path / "out", "zarr", ImportSettings(fps=20))


def test_a_disk_too_small_for_the_copy_is_named(tmp_path, old_dataset, monkeypatch):
    def copytree(folder, target):
        raise shutil.Error([(folder, target, "[Errno 28] No space left on device")])

    monkeypatch.setattr(shutil, "copytree", copytree)
    with pytest.raises(StoreError, match=r"cannot copy .*No space left on device.*; make space"):
        import_dataset(old_dataset, tmp_path / "out", "zarr")
    assert not (tmp_path / "out").exists()
