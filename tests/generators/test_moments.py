from __future__ import annotations

import logging
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from demoloom.generators.learned.interaction import Interaction, collect_rows
from demoloom.generators.learned.moments import Moments, claim_folder, fingerprint_of
from demoloom.storage.errors import CheckpointError

from .moving_square import CONFIG, SPEC, square_episodes
from .toy_training import new_net, train_sum, training_in


@pytest.fixture(scope="module")
def data() -> Interaction:
    return collect_rows(SPEC, square_episodes(3))


def test_what_was_saved_last_is_loaded(tmp_path: Path) -> None:
    moments = Moments(tmp_path)
    for step in (1, 2):
        moments.save("state and labels", {"step": step, "weights": [torch.full((2,), step)]})
    loaded = Moments(tmp_path).load("state and labels")
    assert loaded is not None
    assert loaded["step"] == 2
    assert loaded["weights"][0].tolist() == [2, 2]
    assert moments.load("dynamics") is None


def test_it_is_time_to_save_once_the_seconds_have_passed(tmp_path: Path) -> None:
    assert Moments(tmp_path, every_s=0).due("dynamics")
    assert not Moments(tmp_path, every_s=60).due("dynamics")
    assert not Moments(None, every_s=0).due("dynamics")


def test_a_damaged_moment_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "dynamics.pt").write_bytes(b"short")
    with pytest.raises(CheckpointError, match=r"dynamics\.pt is damaged .*delete .* to train from the beginning"):
        Moments(tmp_path).load("dynamics")


def test_a_moment_of_another_network_is_refused(tmp_path: Path) -> None:
    train_sum(training_in(tmp_path), new_net())
    with pytest.raises(CheckpointError, match="the saved moment of 'sum' does not fit this version of demoloom"):
        train_sum(training_in(tmp_path), torch.nn.Linear(2, 3))


def test_seconds_add_up_over_tries_to_the_last_moment_of_each(tmp_path: Path) -> None:
    now = time.monotonic()
    first = Moments(tmp_path, began=now - 100)
    first.save("dynamics", {})
    second = Moments(tmp_path, began=now - 20)
    assert second.seconds == pytest.approx(120, abs=10)
    second.save("decoder", {})
    assert Moments(tmp_path).seconds == pytest.approx(120, abs=10)


def test_the_same_training_keeps_its_moments(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        claim_folder(tmp_path / "training", "one")
        (tmp_path / "training" / "dynamics.pt").touch()
    assert not caplog.messages


def test_another_training_begins_anew_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    claim_folder(tmp_path / "training", "one")
    (tmp_path / "training" / "dynamics.pt").touch()
    with caplog.at_level(logging.WARNING):
        claim_folder(tmp_path / "training", "two")
    assert not (tmp_path / "training" / "dynamics.pt").exists()
    assert "another config or on other data; training begins anew" in caplog.text


def test_one_pixel_changes_the_fingerprint(data: Interaction) -> None:
    frames = np.array(data.frames[:])
    same = replace(data, frames=frames.copy())
    frames[5, 3, 3, 0] ^= 1
    assert fingerprint_of(same, {}) == fingerprint_of(data, {})
    assert fingerprint_of(replace(data, frames=frames), {}) != fingerprint_of(data, {})


def test_the_config_changes_the_fingerprint_unless_it_only_says_how_to_watch(data: Interaction) -> None:
    def fingerprint(**changes: object) -> str:
        return fingerprint_of(data, replace(CONFIG, **changes).identity())  # type: ignore[arg-type]

    assert fingerprint(log_to="none", check_every=7, save_every_s=1) == fingerprint()
    assert fingerprint(seed=1) != fingerprint()
