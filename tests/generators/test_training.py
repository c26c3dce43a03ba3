"""A training of a world killed at any moment ends with the same weights, whatever ran beside it."""

from __future__ import annotations

import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.learned.training import train_world
from demoloom.generators.learned.training_config import (
    DynamicsTrainingConfig,
    VectorTrainingConfig,
    WorldTrainingConfig,
)
from demoloom.generators.learned.training_log import TrainingLog
from demoloom.generators.probe_config import ProbeTrainingConfig
from demoloom.storage.errors import ConfigError, StoreError

from .moving_square import CONFIG, write_squares, write_squares_without_labels

QUICK = replace(
    CONFIG,
    dynamics=DynamicsTrainingConfig(num_steps=8, batch_size=4, num_rollouts=2, rollout_length=2, rollouts_from=0.3),
    probe=ProbeTrainingConfig(num_steps=8, batch_size=4, width=16, num_blocks=1),
    autoencoder_steps=6,
    autoencoder_batch=4,
    vectors=VectorTrainingConfig(num_steps=8, batch_size=8, rollout_length=2, plausibility_steps=6),
    decoder_steps=4,
    head_steps=6,
    inverse_steps=4,
    save_every_s=0.0,
    check_every=4,
)
#: Stage -> the step after which it is stopped.
STAGES = {
    "autoencoder": 2,
    "state and labels": 4,
    "labels alone": 2,
    "dynamics": 5,
    "score": 3,
    "probe": 1,
    "probe on shown frames": 2,
    "decoder": 1,
}

TRAIN = (
    "import pickle, sys; from demoloom.generators.learned.training import train_world;"
    "train_world(*pickle.load(open(sys.argv[1], 'rb')))"
)


def weights(world: Path) -> list[bytes]:
    """What the weights are, to the bit, and all else that a world does its work with."""
    return [path.read_bytes() for path in sorted(world.rglob("*.safetensors"))]


class Stopped(Exception):  # noqa: N818
    pass


def train_until(stage: str, step: int, data: Path, out: Path, config: WorldTrainingConfig) -> None:
    """Train, up to an error right after a step of a stage, while another stage may be anywhere."""
    plain = TrainingLog.step

    def stopping(log: TrainingLog, name: str, at: int, loss: float, lr: float) -> None:
        plain(log, name, at, loss, lr)
        if (name, at) == (stage, step):
            raise Stopped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TrainingLog, "step", stopping)
        with pytest.raises(Stopped):
            train_world(data, out, config)


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_squares(tmp_path_factory.mktemp("labelled") / "interaction", 6)


@pytest.fixture(scope="module")
def whole(labelled: Path) -> Path:
    """Trained in one piece, and without looking at it meanwhile."""
    train_world(labelled, labelled.with_name("world"), replace(QUICK, check_every=0, log_to="none"))
    return labelled.with_name("world")


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "step"), STAGES.items())
def test_stopped_in_any_stage_it_ends_with_the_same_weights(
    stage: str, step: int, whole: Path, labelled: Path, tmp_path: Path
) -> None:
    train_until(stage, step, labelled, tmp_path / "world", QUICK)
    assert not (tmp_path / "world").exists()
    train_world(labelled, tmp_path / "world", QUICK)
    assert weights(tmp_path / "world") == weights(whole)
    rows = [json.loads(line) for line in (tmp_path / "world" / "metrics.jsonl").read_text().splitlines()]
    assert sorted(row["stage"] for row in rows if row["step"] == 0) == sorted(STAGES)
    assert [row["step"] for row in rows if "error_16" in row] == [3, 7]
    assert [(row["step"], "psnr_16" in row) for row in rows if row["stage"] == "dynamics"] == [
        (0, False), (3, True), (7, True)
    ]  # fmt: skip


@pytest.mark.slow
def test_without_labels_the_pool_of_rollouts_goes_on_too(tmp_path: Path) -> None:
    data = write_squares_without_labels(tmp_path / "interaction", 6)
    train_world(data, tmp_path / "whole", QUICK)
    for step in (3, 6):
        train_until("dynamics", step, data, tmp_path / "parts", QUICK)
    train_until("decoder", 2, data, tmp_path / "parts", QUICK)
    train_world(data, tmp_path / "parts", QUICK)
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


@pytest.mark.slow
def test_frames_out_of_noise_go_on_too_and_what_reads_actions(labelled: Path, tmp_path: Path) -> None:
    model = replace(QUICK.model, decoder="consistency", decoding_steps=2, inverse_dynamics="always")
    config = replace(QUICK, model=model)
    train_world(labelled, tmp_path / "whole", config)
    for stage, step in (("autoencoder", 3), ("probe on shown frames", 1), ("inverse dynamics", 2), ("decoder", 2)):
        train_until(stage, step, labelled, tmp_path / "parts", config)
    train_world(labelled, tmp_path / "parts", config)
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")


@pytest.mark.slow
def test_killed_it_goes_on_to_the_same_weights(whole: Path, labelled: Path, tmp_path: Path) -> None:
    (tmp_path / "arguments").write_bytes(pickle.dumps((labelled, tmp_path / "world", QUICK)))
    process = subprocess.Popen([sys.executable, "-c", TRAIN, str(tmp_path / "arguments")])
    while not (tmp_path / "world.training" / "dynamics.pt").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    train_world(labelled, tmp_path / "world", QUICK)
    assert weights(tmp_path / "world") == weights(whole)
    assert not (tmp_path / "world.training").exists()


def test_other_data_is_trained_on_from_the_beginning(
    whole: Path, labelled: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    train_until("dynamics", 5, write_squares(tmp_path / "more", 7), tmp_path / "world", QUICK)
    with caplog.at_level(logging.WARNING):
        train_world(labelled, tmp_path / "world", QUICK)
    assert "training begins anew" in caplog.text
    assert weights(tmp_path / "world") == weights(whole)


def test_what_stands_there_is_refused_before_any_work(labelled: Path, tmp_path: Path) -> None:
    (tmp_path / "world").mkdir()
    (tmp_path / "world" / "mine").touch()
    with pytest.raises(StoreError, match="world exists already"):
        train_world(labelled, tmp_path / "world", QUICK)


@pytest.mark.slow
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two processes need two cores")
def test_two_processes_train_a_world_of_the_same_quality(whole: Path, labelled: Path, tmp_path: Path) -> None:
    metrics = train_world(labelled, tmp_path / "world", replace(QUICK, num_processes=2))
    alone = json.loads((whole / "metrics.json").read_text())
    assert metrics["open_loop"][0]["psnr"] == pytest.approx(alone["open_loop"][0]["psnr"], abs=1)
    assert not np.array_equal(weights(tmp_path / "world"), weights(whole))


def test_a_tracker_that_there_is_not_is_refused() -> None:
    with pytest.raises(ConfigError, match="log_to must be one of none, tensorboard, wandb, got excel"):
        WorldTrainingConfig(log_to="excel")  # type: ignore[arg-type]
