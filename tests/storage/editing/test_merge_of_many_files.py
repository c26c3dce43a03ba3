import hashlib
from dataclasses import replace

import pytest

from demoloom.storage import Camera, open_dataset
from demoloom.storage import lerobot_layout as layout
from demoloom.storage.editing.merge import merge


@pytest.fixture
def spec(spec):
    return replace(spec, cameras=(Camera("top", 64, 96), Camera("wrist", 48, 48)))


def test_after_a_merge_of_rolled_over_files_every_episode_has_its_own_frames(tmp_path, make_dataset, monkeypatch):
    monkeypatch.setattr(layout, "VIDEO_FILE_MB", 1)
    monkeypatch.setattr(layout, "DATA_FILE_MB", 0)
    before: dict[str, dict[tuple[str, int], str]] = {}
    for name, indices in (("a", range(4)), ("b", range(4, 8)), ("c", range(8, 12))):
        before |= ends_of(make_dataset(name, indices, "lerobot", length=20))
    assert num_files(tmp_path / "a", "top") > 1
    assert num_files(tmp_path / "a", "wrist") < num_files(tmp_path / "a", "top")
    merge([tmp_path / name for name in "abc"], tmp_path / "all", "lerobot")
    assert num_files(tmp_path / "all", "top") > num_files(tmp_path / "a", "top")
    assert ends_of(open_dataset(tmp_path / "all")) == before
    assert len(before) == 12


def ends_of(dataset):
    """The hash of the first and of the last frame of each episode and camera."""
    return {
        episode.id: {
            (name, end): hashlib.sha256(frames[end].tobytes()).hexdigest()
            for name, frames in episode.images.items()
            for end in (0, -1)
        }
        for episode in dataset
    }


def num_files(path, camera):
    return len(list((path / "videos" / f"observation.images.{camera}").rglob("*.mp4")))
