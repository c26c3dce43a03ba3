"""Episodes of a small robot."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from demoloom.storage import Episode, EpisodeSpec
from demoloom.storage.create import new_dataset
from demoloom.storage.testing import assert_same, numbered_episode, numbered_spec


@pytest.fixture
def spec() -> EpisodeSpec:
    return numbered_spec()


@pytest.fixture
def make_episode(spec: EpisodeSpec) -> Callable[..., Episode]:
    return lambda index=0, length=7, **changes: numbered_episode(spec, index, length, **changes)


@pytest.fixture
def same() -> Callable[[Episode, Episode], None]:
    return assert_same


def write_all(path: Path, spec: EpisodeSpec, episodes: Iterable[Episode], codec: Any = None) -> None:
    """A packed LeRobot dataset."""
    with new_dataset(path, "lerobot", spec, codec=codec) as store:
        for episode in episodes:
            store.append(episode)


@pytest.fixture
def write_lerobot() -> Callable[..., None]:
    return write_all
