from __future__ import annotations

import sys
from pathlib import Path

import pytest

from demoloom.generators.learned.trackers import open_tracker
from demoloom.storage.errors import ConfigError


def scalars(folder: Path) -> list[tuple[int, str, float]]:
    """(step, name, value) of each scalar in a folder's event files, which are records of length, checksum, message."""
    from tensorboardX.proto.event_pb2 import Event

    found = []
    for path in sorted(folder.glob("events.*")):
        data = path.read_bytes()
        while data:
            length = int.from_bytes(data[:8], "little")
            event, data = Event.FromString(data[12 : 12 + length]), data[16 + length :]
            found += [(event.step, value.tag, value.simple_value) for value in event.summary.value]
    return found


def test_tensorboard_gets_each_stage_as_a_run_of_its_own(tmp_path: Path) -> None:
    tracker = open_tracker("tensorboard", tmp_path, "toy")
    assert tracker is not None
    tracker.track("state and labels", 20, {"loss": 0.5, "lr": 0.25})
    tracker.track("dynamics", 999, {"psnr_16": 24.5})
    tracker.close()
    assert scalars(tmp_path / "tensorboard" / "state_and_labels") == [(20, "loss", 0.5), (20, "lr", 0.25)]
    assert scalars(tmp_path / "tensorboard" / "dynamics") == [(999, "psnr_16", 24.5)]


def test_none_tracks_nothing(tmp_path: Path) -> None:
    assert open_tracker("none", tmp_path, "toy") is None
    assert not list(tmp_path.iterdir())


def test_wandb_that_is_not_installed_is_named_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(ConfigError, match=r"log_to wandb needs the package wandb.*pip install wandb"):
        open_tracker("wandb", tmp_path, "toy")


@pytest.mark.slow
def test_wandb_keeps_an_offline_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="wandb is not installed")
    for name, value in (("WANDB_MODE", "offline"), ("WANDB_SILENT", "true")):
        monkeypatch.setenv(name, value)
    tracker = open_tracker("wandb", tmp_path, "toy")
    assert tracker is not None
    tracker.track("state and labels", 20, {"loss": 0.5})
    tracker.close()
    assert len(list(tmp_path.glob("wandb/offline-run-*-toy/run-toy.wandb"))) == 1
