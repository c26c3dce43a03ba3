from pathlib import Path

import numpy as np
import pytest

from demoloom.policies.demonstrations import join, lerobot_features, load_demonstrations, statistics, window
from demoloom.storage.errors import InvalidEpisode, StoreError

from .toy import SPEC, walk, write_store


def test_windows_hold_the_first_and_last_row_of_their_own_episode() -> None:
    data = join(SPEC, [walk(0, length=3), walk(1, length=4)])
    positions, is_pad = window(data, np.array([0, 2, 3, 6]), [-1, 0, 1])
    assert positions.tolist() == [[0, 0, 1], [1, 2, 2], [3, 3, 4], [5, 6, 6]]
    assert is_pad.tolist() == [[True, False, False], [False, False, True], [True, False, False], [False, False, True]]


def test_statistics_are_those_of_all_frames() -> None:
    data = join(SPEC, [walk(index) for index in range(3)])
    found = statistics(data)
    pixels = data.images["top"].reshape(-1, 3) / 255
    assert np.allclose(found["observation.images.top"]["mean"].ravel(), pixels.mean(0), atol=1e-6)
    assert np.allclose(found["observation.images.top"]["std"].ravel(), pixels.std(0), atol=1e-6)
    assert np.allclose(found["action"]["std"], data.action.std(0))
    assert np.array_equal(found["observation.state"]["max"], data.state.max(0))


def test_training_data_with_a_failed_episode_is_refused(tmp_path: Path) -> None:
    write_store(tmp_path / "mixed", [walk(0), walk(1, outcome="failure")])
    with pytest.raises(InvalidEpisode, match=r"walk-001.*no demonstration.*it fell over"):
        load_demonstrations(tmp_path / "mixed")


def test_an_empty_dataset_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no episode to train on"):
        load_demonstrations(write_store(tmp_path / "empty", []))


def test_action_names_keep_their_order_on_the_way_to_lerobot() -> None:
    assert lerobot_features(SPEC)["action"]["names"] == ["x", "y"]
