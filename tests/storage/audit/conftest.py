"""Small datasets of each kind, made once and copied for each test to damage."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from demoloom.storage.create import new_dataset
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.recorder import EpisodeStore
from demoloom.storage.testing import numbered_episode, numbered_spec
from demoloom.storage.video import Codec, ImageCodec, VideoCodec

from .damage import make_foreign

#: Packed LeRobot (lossless video, images in rows, lossy video), one that grows, Zarr, and one of someone else.
KINDS = ("lerobot", "images", "lossy", "growing", "zarr", "foreign")
CODECS: dict[str, Codec] = {"images": ImageCodec(), "lossy": VideoCodec("yuv420p", 18)}


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset of each kind: episodes of 7, 3 and 5 rows."""
    root, spec = tmp_path_factory.mktemp("pristine"), numbered_spec()
    episodes = [numbered_episode(spec, index, length) for index, length in enumerate((7, 3, 5))]
    for kind in KINDS:
        with new_of_kind(root / kind, kind) as store:
            for episode in episodes:
                store.append(episode)
    make_foreign(root / "foreign")
    return root


def new_of_kind(path: Path, kind: str) -> AbstractContextManager[EpisodeStore]:
    if kind == "growing":
        return LeRobotStore.create(path, numbered_spec())
    return new_dataset(path, "zarr" if kind == "zarr" else "lerobot", numbered_spec(), codec=CODECS.get(kind))


@pytest.fixture
def copy(pristine: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A dataset of a kind, to damage; it is called `d`, so that foreign episodes are `d-000000` and so on."""

    def make(kind: str) -> Path:
        shutil.copytree(pristine / kind, tmp_path / "d")
        return tmp_path / "d"

    return make
