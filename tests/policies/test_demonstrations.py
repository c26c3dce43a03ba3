from pathlib import Path

import numpy as np
import pytest

from demoloom.policies.demonstrations import lerobot_features, load_demonstrations, statistics
from demoloom.storage.errors import InvalidEpisode, StoreError
from demoloom.storage.row_table import join_episodes

from .toy import SPEC, walk, write_store


def test_statistics_are_those_of_all_frames() -> None:
    data = join_episodes(SPEC, [walk(index) for index in range(3)])
    found = statistics(data)
    pixels = data["observation.images.top"][:].reshape(-1, 3) / 255
    assert np.allclose(found["observation.images.top"]["mean"].ravel(), pixels.mean(0), atol=1e-6)
    assert np.allclose(found["observation.images.top"]["std"].ravel(), pixels.std(0), atol=1e-6)
    assert np.allclose(found["action"]["std"], data["action"][:].std(0))
    assert np.allclose(found["action"]["q99"], np.quantile(data["action"][:], 0.99, axis=0))
    assert np.array_equal(found["observation.state"]["max"], data["observation.state"][:].max(0))


def test_training_data_with_a_failed_episode_is_refused(tmp_path: Path) -> None:
    write_store(tmp_path / "mixed", [walk(0), walk(1, outcome="failure")])
    with pytest.raises(InvalidEpisode, match=r"walk-001.*no demonstration.*it fell over"):
        load_demonstrations(tmp_path / "mixed")


def test_an_empty_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no episode to train on"):
        load_demonstrations(write_store(tmp_path / "empty", []))


def test_action_names_keep_their_order_on_the_way_to_lerobot() -> None:
    assert lerobot_features(SPEC)["action"]["names"] == ["x", "y"]
