import json
import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demoloom.policies import PolicyTrainingConfig, train_policy
from demoloom.policies.demonstrations import load_demonstrations
from demoloom.policies.fitting import learning_rate_factor
from demoloom.policies.training import held_out_episodes
from demoloom.storage.errors import CheckpointError, ConfigError, PluginError, SpecMismatch
from demoloom.storage.spec import Camera
from demoloom.teleop.policy_checkpoint import load_policy

from .toy import SETTINGS, SPEC, observe, walk, write_store, write_world


@pytest.mark.parametrize("name", ["latent", "latent-by-probe"])
def test_a_trained_policy_walks_to_the_middle(policies: dict[str, Path], name: str) -> None:
    checkpoint = load_policy(policies[name])
    seen = {key: np.stack([value, value], 1) for key, value in observe(np.array([[3.0, 12.0]])).items()}
    chunk = checkpoint.plan(seen, np.zeros((1, 8, 2), np.float32))
    # The demonstrations go from (3, 12) to (4.25, 11) and then closer to (8, 8).
    assert np.abs(chunk[0, 0] - [4.25, 11]).max() < 1
    assert np.abs(chunk[0, 7] - 8).max() < 3


@pytest.mark.parametrize("kind", SETTINGS)
def test_a_policy_folder_is_complete_and_readable_by_others(policies: dict[str, Path], kind: str) -> None:
    folder = policies[kind]
    assert {"config.json", "model.safetensors", "spec.json", "training.json", "metrics.jsonl"} <= {
        file.name for file in folder.iterdir()
    }
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o644 for file in folder.iterdir())
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert len(rows) == 3
    assert {"step", "seconds", "loss", "validation_loss"} <= rows[-1].keys()


def test_the_same_seed_trains_the_same_weights(tmp_path: Path, demonstrations: Path, world: Path) -> None:
    config = PolicyTrainingConfig(num_steps=3, batch_size=8, settings=SETTINGS["latent"], num_threads=1)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        train_policy(demonstrations, tmp_path / name, replace(config, seed=seed), world)
    a, b, c = ((tmp_path / name / "model.safetensors").read_bytes() for name in "abc")
    assert a == b != c


def test_training_over_an_existing_folder_is_refused(policies: dict[str, Path], demonstrations: Path) -> None:
    with pytest.raises(CheckpointError, match="exists already; delete it"):
        train_policy(demonstrations, policies["latent"], PolicyTrainingConfig())


def test_demonstrations_of_another_camera_than_the_worlds_are_refused(tmp_path: Path) -> None:
    other = write_world(tmp_path / "world", replace(SPEC, cameras=(Camera("top", 32, 16),)))
    data = write_store(tmp_path / "data", [walk(0)])
    with pytest.raises(SpecMismatch, match=r"height=32.*height=16"):
        train_policy(data, tmp_path / "policy", PolicyTrainingConfig(), other)
    assert not (tmp_path / "policy").exists()


def test_a_policy_sees_through_the_probe_of_a_world_that_has_one(policies: dict[str, Path]) -> None:
    seen = {name: json.loads((policies[name] / "config.json").read_text()) for name in ("latent", "latent-by-probe")}
    assert (seen["latent"]["eyes"], seen["latent"]["poses"]) == ("latents", [])
    assert (seen["latent-by-probe"]["eyes"], seen["latent-by-probe"]["poses"]) == ("probe", [0])


def test_a_folder_that_is_no_world_is_refused(tmp_path: Path, demonstrations: Path) -> None:
    with pytest.raises(CheckpointError, match="no world at"):
        train_policy(demonstrations, tmp_path / "policy", PolicyTrainingConfig(), tmp_path)


def test_an_unknown_kind_suggests_the_nearest(tmp_path: Path, demonstrations: Path, world: Path) -> None:
    with pytest.raises(PluginError, match="did you mean 'latent'"):
        train_policy(demonstrations, tmp_path / "policy", PolicyTrainingConfig("latents"), world)


@pytest.mark.parametrize("device", ["cudaa", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(tmp_path: Path, demonstrations: Path, world: Path, device: str) -> None:
    with pytest.raises(ConfigError, match=f"device '{device}' of policy training cannot be used"):
        train_policy(demonstrations, tmp_path / "policy", PolicyTrainingConfig(device=device), world)


def test_a_number_out_of_range_is_named_with_its_value() -> None:
    with pytest.raises(ConfigError, match=r"num_steps .* got 0"):
        PolicyTrainingConfig(num_steps=0)
    with pytest.raises(ConfigError, match=r"ema_decay .* got 1\.5"):
        PolicyTrainingConfig(ema_decay=1.5)


def test_held_out_episodes_are_kept_apart_from_their_mirror_images(demonstrations: Path) -> None:
    data = load_demonstrations(demonstrations)
    plain = held_out_episodes(data, PolicyTrainingConfig())
    mirrored = held_out_episodes(data, PolicyTrainingConfig(mirror="transpose"))
    assert len(plain) == 2
    assert sorted(mirrored) == sorted([*plain, *(plain + 24)])


def test_the_learning_rate_rises_then_falls_to_zero() -> None:
    assert learning_rate_factor(0, 0.0) == pytest.approx(0.01)
    assert learning_rate_factor(500, 0.5) == pytest.approx(0.5)
    assert learning_rate_factor(999, 1.0) == pytest.approx(0.0)
