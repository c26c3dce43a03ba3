from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.probe import Probe, train_probe
from demoloom.generators.probe_config import ProbeTrainingConfig
from demoloom.storage.errors import CheckpointError, ConfigError

from .moving_square import draw_square, write_squares

CONFIG = ProbeTrainingConfig(num_steps=400, batch_size=32, lr=4e-3, width=16, num_blocks=1, held_out=0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("probe")
    errors = train_probe(write_squares(root / "interaction"), root / "probe", CONFIG)
    assert errors["place.x"] < 1.5
    return root / "probe"


def test_it_reads_where_the_square_is(folder: Path) -> None:
    read = Probe.from_pretrained(folder)(np.stack([draw_square(np.array(place)) for place in ([10, 20], [24, 8])]))
    assert read["place"].shape == (2, 2)
    assert read["place"].dtype == np.float32
    assert np.allclose(read["place"], [[10, 20], [24, 8]], atol=2.5)


def test_no_frames_give_no_labels(folder: Path) -> None:
    assert Probe.from_pretrained(folder)(np.zeros((0, 32, 32, 3), np.uint8))["place"].shape == (0, 2)


def test_what_was_saved_reads_the_same(folder: Path, tmp_path: Path) -> None:
    frames = draw_square(np.array([12, 12]))[None]
    first = Probe.from_pretrained(folder)
    first.save_pretrained(tmp_path)
    assert np.array_equal(first(frames)["place"], Probe.from_pretrained(tmp_path)(frames)["place"])


def test_frames_of_another_size_are_refused_with_both_sizes(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"reads frames of \(32, 32, 3\), got \(16, 16, 3\)"):
        Probe.from_pretrained(folder)(np.zeros((1, 16, 16, 3), np.uint8))


def test_a_folder_without_a_probe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no probe at"):
        Probe.from_pretrained(tmp_path)


def test_a_damaged_probe_is_refused(folder: Path, tmp_path: Path) -> None:
    Probe.from_pretrained(folder).save_pretrained(tmp_path)
    (tmp_path / "probe.safetensors").write_bytes(b"short")
    with pytest.raises(CheckpointError, match="is damaged"):
        Probe.from_pretrained(tmp_path)
