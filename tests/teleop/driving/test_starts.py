from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.learned.bundled import world_folder
from demoloom.generators.realities.pusht import pusht_spec
from demoloom.storage import ConfigError, SpecMismatch, StoreError, ZarrStore
from demoloom.storage.testing.numbered import numbered_episode, numbered_spec
from demoloom.teleop.driving import Starts, checkpoint_starts, dataset_starts, no_starts


@pytest.fixture
def starts() -> Starts:
    frames = {"top": np.arange(3, dtype=np.uint8)[:, None, None, None] * np.ones((1, 4, 4, 3), np.uint8)}
    return Starts(frames, np.array([[0], [10], [20]], np.float32))


def test_a_start_chosen_by_number_is_that_frame_and_state(starts: Starts) -> None:
    given = starts.options(starts.by_index(1))["start"]
    assert given["observation.images.top"].shape == (1, 4, 4, 3)
    assert (given["observation.images.top"] == 1).all()
    assert given["observation.state"].tolist() == [[10]]
    assert (starts.frame(2) == 2).all()


def test_the_same_seed_draws_the_same_start(starts: Starts) -> None:
    assert starts.by_seed(5) == starts.by_seed(5)
    assert {starts.by_seed(seed).index for seed in range(20)} == {0, 1, 2}


@pytest.mark.parametrize("index", [-1, 3])
def test_a_number_without_a_start_is_refused(starts: Starts, index: int) -> None:
    with pytest.raises(ConfigError, match=f"no start {index}; there are 3"):
        starts.by_index(index)


def test_a_world_of_its_own_starts_is_given_a_seed_alone() -> None:
    starts = no_starts()
    assert starts.options(starts.draw()) == {}
    assert starts.draw().seed != starts.draw().seed


def test_the_first_frames_of_a_dataset_are_its_starts(tmp_path: Path) -> None:
    spec = numbered_spec()
    store = ZarrStore.create(tmp_path / "data", spec)
    for index in range(3):
        store.append(numbered_episode(spec, index, 4))
    starts = dataset_starts(tmp_path / "data", spec)
    assert len(starts) == 3
    assert starts.options(starts.by_index(2))["start"]["observation.state"].tolist() == [[2, 0]]


def test_a_dataset_of_another_robot_gives_no_starts(tmp_path: Path) -> None:
    store = ZarrStore.create(tmp_path / "data", numbered_spec())
    with pytest.raises(StoreError, match="no episode to start from"):
        dataset_starts(store.path, numbered_spec())
    with pytest.raises(SpecMismatch, match="are not of this world"):
        dataset_starts(store.path, pusht_spec())


def test_the_bundled_world_offers_its_own_start_frames(tmp_path: Path) -> None:
    starts = checkpoint_starts(world_folder("pusht"), pusht_spec())
    assert len(starts) == 240
    assert starts.frame(0).shape == (64, 64, 3)
    assert len(checkpoint_starts(tmp_path, pusht_spec())) == 0
