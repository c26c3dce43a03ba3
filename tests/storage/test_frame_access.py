"""Single frames of every format; `numbered_episode` gives each frame noise of its own."""

import os
import pickle
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from demoloom.storage import StoreError
from demoloom.storage.frame_access import open_frames

from .stored import CODECS, store

LENGTHS = (70, 1, 20)


@pytest.fixture(params=CODECS)
def stored(request, tmp_path, spec, make_episode):
    """A dataset, and its episodes as they were before."""
    episodes = {e.id: e for e in (make_episode(index, length) for index, length in enumerate(LENGTHS))}
    return store(tmp_path / "data", request.param, spec, list(episodes.values())), episodes


def places(episodes, rng, count):
    """Where to look, in no order: (id, camera, rising numbers of frames)."""
    for _ in range(count):
        id = rng.choice(list(episodes))
        numbers = np.unique(rng.integers(0, len(episodes[id]), rng.integers(1, 6)))
        yield str(id), str(rng.choice(["top", "wrist"])), numbers


def read(frames, id, camera, numbers):
    return np.stack(list(frames.frames(id, camera, numbers.tolist())))


@pytest.mark.parametrize("cache_bytes", [0, 20_000, 1 << 30])
def test_any_frames_in_any_order_are_those_that_were_stored(stored, cache_bytes):
    reader, episodes = stored
    frames = open_frames(reader, cache_bytes)
    for id, camera, numbers in places(episodes, np.random.default_rng(0), 60):
        np.testing.assert_array_equal(read(frames, id, camera, numbers), episodes[id].images[camera][numbers])


def test_threads_may_share_an_access(stored):
    reader, episodes = stored
    frames = open_frames(reader)
    asked = list(places(episodes, np.random.default_rng(1), 60))
    with ThreadPoolExecutor(4) as threads:
        found = threads.map(lambda place: read(frames, *place), asked)
    for (id, camera, numbers), frame in zip(asked, found, strict=True):
        np.testing.assert_array_equal(frame, episodes[id].images[camera][numbers])


def test_a_pickled_access_opens_its_own_files(stored):
    reader, episodes = stored
    frames = open_frames(reader, 1 << 20)
    read(frames, "run-000000", "top", np.array([3]))
    again = pickle.loads(pickle.dumps(frames))
    np.testing.assert_array_equal(
        read(again, "run-000002", "top", np.array([3])), episodes["run-000002"].images["top"][[3]]
    )


def test_missing_files_are_named(stored):
    reader, _ = stored
    frames = open_frames(reader)
    for folder in ("episodes", "videos", "data"):
        shutil.rmtree(reader.path / folder, ignore_errors=True)
    with pytest.raises(StoreError, match="restore"):
        read(frames, "run-000000", "top", np.array([3]))


def test_open_files_are_few_however_many_episodes_there_are(tmp_path, spec, make_episode):
    from demoloom.storage.lerobot_store import LeRobotStore

    dataset = LeRobotStore.create(tmp_path / "data", spec)  # one file for each episode and camera
    for index in range(20):
        dataset.append(make_episode(index, 2))
    before = len(os.listdir("/proc/self/fd"))
    frames = open_frames(dataset)
    for id in dataset.ids():
        for camera in ("top", "wrist"):
            read(frames, id, camera, np.array([1]))
    assert len(os.listdir("/proc/self/fd")) - before <= 16


def test_a_cut_chunk_is_named_with_its_file(tmp_path, spec, make_episode):
    reader = store(tmp_path / "data", "zarr", spec, [make_episode(0, 70)])
    file = next((reader.path / "episodes/run-000000/observation.images.top/c").rglob("0/0/0/0"))
    file.write_bytes(file.read_bytes()[:-600])
    with pytest.raises(StoreError, match=r"chunk 2 of .* is damaged.*restore it from a copy"):
        read(open_frames(reader), "run-000000", "top", np.array([69]))


def test_black_chunks_which_zarr_does_not_write_are_black(tmp_path, spec, make_episode):
    episode = make_episode(0, 70)
    for frames in episode.images.values():
        frames[32:64] = 0
    reader = store(tmp_path / "data", "zarr", spec, [episode])
    found = read(open_frames(reader), "run-000000", "top", np.arange(70))
    np.testing.assert_array_equal(found, episode.images["top"])


@pytest.mark.parametrize("kind", CODECS)
def test_an_episode_of_black_frames_is_black(tmp_path, spec, make_episode, kind):
    episode = make_episode(0, 40)
    black = {name: np.zeros_like(frames) for name, frames in episode.images.items()}
    reader = store(tmp_path / "data", kind, spec, [replace(episode, images=black)])
    for frame in open_frames(reader).frames(episode.id, "top", [0, 39]):
        assert frame.shape == (16, 24, 3)
        assert not frame.any()
    assert not reader.read(episode.id).images["top"].any()


def test_a_zarr_array_of_another_layout_is_refused(tmp_path, spec, make_episode):
    import zarr

    reader = store(tmp_path / "data", "zarr", spec, [make_episode()])
    folder = reader.path / "episodes/run-000000"
    shutil.rmtree(folder / "observation.images.top")
    zarr.open_group(folder).create_array(
        "observation.images.top", shape=(7, 16, 24, 3), dtype="u1", chunks=(1, 16, 24, 3)
    )
    with pytest.raises(StoreError, match=r"not laid out as demoloom writes arrays; restore it"):
        read(open_frames(reader), "run-000000", "top", np.array([3]))
