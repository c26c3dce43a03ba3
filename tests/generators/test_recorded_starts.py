from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators import RolloutPlan
from demoloom.generators.recorded_starts import RecordedStarts
from demoloom.storage.dataset import open_dataset
from demoloom.storage.episode import Episode
from demoloom.storage.errors import StoreError
from demoloom.storage.plugins import PluginRef
from demoloom.storage.spec import Camera, EpisodeSpec, Vector
from demoloom.storage.zarr_store import ZarrStore

UNIT = Vector(("x",), (0.0,), (100.0,))
SPEC = EpisodeSpec(fps=10, cameras=(Camera("top", 16, 16),), state=UNIT, action=UNIT, labels={}, robot_type="dot")


def store(path: Path, count: int, length: int = 1) -> Path:
    """Episode i starts at x = i, with a frame of grey i."""
    zarr = ZarrStore.create(path, SPEC)
    for index in range(count):
        column = np.full(length, float(index), np.float32)
        zarr.append(
            Episode(
                id=f"start-{index}", index=index, seed=index, task="Move.", outcome="failure", reason="not solved",
                images={"top": np.full((length, 16, 16, 3), index, np.uint8)},
                state=column[:, None], action=column[:, None], reward=column * 0, success=np.zeros(length, bool),
                score=column * 0, trust=np.ones(length, np.float32),
            )
        )  # fmt: skip
    return path


def test_a_start_is_the_first_row_of_one_episode(tmp_path: Path) -> None:
    world = RecordedStarts(str(store(tmp_path / "starts", 5, length=3)), num_envs=4)
    observation, _ = world.reset(seed=[1, 2, 3, 4])
    assert observation["observation.images.top"].shape == (4, 16, 16, 3)
    assert np.array_equal(observation["observation.images.top"][:, 0, 0, 0], observation["observation.state"][:, 0])


def test_a_seed_draws_the_same_start_whatever_the_other_slots_draw(tmp_path: Path) -> None:
    path = str(store(tmp_path / "starts", 50))
    first, _ = RecordedStarts(path, num_envs=2).reset(seed=[7, 8])
    other, _ = RecordedStarts(path, num_envs=3).reset(seed=[1, 2, 7])
    assert first["observation.state"][0] == other["observation.state"][2]


def test_all_starts_are_drawn_sooner_or_later(tmp_path: Path) -> None:
    observation, _ = RecordedStarts(str(store(tmp_path / "starts", 5)), num_envs=100).reset(seed=0)
    assert set(observation["observation.state"][:, 0]) == {0, 1, 2, 3, 4}


def test_slots_outside_the_mask_keep_their_start(tmp_path: Path) -> None:
    world = RecordedStarts(str(store(tmp_path / "starts", 50)), num_envs=2)
    before, _ = world.reset(seed=[1, 2])
    after, _ = world.reset(seed=[3, 4], options={"reset_mask": np.array([False, True])})
    assert after["observation.state"][0] == before["observation.state"][0]
    assert after["observation.state"][1] != before["observation.state"][1]


def test_starts_that_a_person_once_drove_on_from_say_nothing_of_who_drives_now(tmp_path: Path) -> None:
    zarr = ZarrStore.create(tmp_path / "driven", replace(SPEC, intervention=True))
    (episode,) = open_dataset(store(tmp_path / "starts", 1))
    zarr.append(replace(episode, intervention=np.array([True])))
    assert RecordedStarts(str(zarr.path), num_envs=1).episode_spec == SPEC


def test_it_cannot_be_driven(tmp_path: Path) -> None:
    world = RecordedStarts(str(store(tmp_path / "starts", 1)), num_envs=1)
    with pytest.raises(NotImplementedError, match="give them to a plan as its start_world"):
        world.step(np.zeros((1, 1), np.float32))


def test_a_dataset_without_episodes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="has no episode to start from"):
        RecordedStarts(str(store(tmp_path / "starts", 0)), num_envs=1)


def test_other_starts_give_a_plan_other_episodes_and_a_moved_folder_the_same(tmp_path: Path) -> None:
    few, more = store(tmp_path / "few", 2), store(tmp_path / "more", 3)

    def id_from(path: Path) -> str:
        starts = PluginRef("worlds", "demoloom.generators.recorded_starts:RecordedStarts", {"dataset": str(path)})
        nobody = PluginRef("streams", "idle")
        return RolloutPlan("test", PluginRef("worlds", "pusht"), nobody, 0, 5, start_world=starts).episode_id(0)

    moved = id_from(few)
    few.rename(tmp_path / "moved")
    assert id_from(tmp_path / "moved") == moved != id_from(more)
