from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.learned.assessment import assess_world
from demoloom.generators.learned.evaluation import ssim
from demoloom.storage.errors import SpecMismatch
from demoloom.storage.testing import numbered_episode, numbered_spec
from demoloom.storage.zarr_store import ZarrStore

from .moving_square import SPEC, square_episodes


@pytest.fixture(scope="module")
def checkpoint(toy_world: Path) -> Path:
    return toy_world


def test_a_world_is_measured_on_any_dataset_of_its_robot(checkpoint: Path, tmp_path: Path) -> None:
    store = ZarrStore.create(tmp_path / "held-out", SPEC)
    for episode in square_episodes(12):
        store.append(episode)
    found = assess_world(checkpoint, tmp_path / "held-out", num_episodes=5)
    assert found["episodes"] == 5
    assert [row["steps"] for row in found["open_loop"]] == [1, 8, 16]
    for row in found["open_loop"]:
        assert row["psnr"] > row["psnr_no_change"] - 3
        assert 0 < row["ssim"] <= 1
        assert row["label_error"]["place.x"] < 6
        assert row["pose_error"] == {}
        assert row["psnr_autoencoder"] > row["psnr_foreground_autoencoder"]
        assert row["ssim_no_change"] <= 1
    assert found["poses"] == []
    assert found["shuffled_action_ratio"] > 1
    assert found["misread_actions"] is None


def test_data_of_another_robot_is_refused_with_the_differences(checkpoint: Path, tmp_path: Path) -> None:
    spec = numbered_spec()
    spec = replace(spec, cameras=spec.cameras[1:])
    store = ZarrStore.create(tmp_path / "other", spec)
    for index in range(2):
        store.append(numbered_episode(spec, index, 4))
    with pytest.raises(SpecMismatch, match=r"is not one of the robot of .*other: cameras are"):
        assess_world(checkpoint, tmp_path / "other")


def test_ssim_is_one_for_equal_frames_and_falls_with_noise() -> None:
    rng = np.random.default_rng(0)
    frames = np.kron(rng.integers(0, 256, (2, 4, 4, 3), np.uint8), np.ones((1, 8, 8, 1), np.uint8))
    noisy = np.clip(frames + rng.normal(0, [[[[10.0]]]], frames.shape), 0, 255).astype(np.uint8)
    noisier = np.clip(frames + rng.normal(0, [[[[60.0]]]], frames.shape), 0, 255).astype(np.uint8)
    assert ssim(frames, frames) == pytest.approx(1)
    assert 1 > ssim(noisy, frames) > ssim(noisier, frames) > 0
