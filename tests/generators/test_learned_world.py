from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.learned.checkpoint import from_pretrained, save_pretrained
from demoloom.generators.learned.training import train_world
from demoloom.generators.learned.training_config import DynamicsTrainingConfig, VectorTrainingConfig
from demoloom.generators.learned.world import LearnedWorld
from demoloom.generators.testing.contracts import WorldContract
from demoloom.storage.errors import CheckpointError, SpecMismatch

from .moving_square import CONFIG, SPEC, write_squares_without_labels


@pytest.fixture(scope="module")
def checkpoint(toy_world: Path) -> Path:
    return toy_world


class TestLearnedWorldKeepsTheContract(WorldContract):
    @pytest.fixture(autouse=True)
    def _given(self, checkpoint: Path) -> None:
        self.checkpoint = checkpoint

    def make(self, num_envs: int) -> LearnedWorld:
        return LearnedWorld(str(self.checkpoint), num_envs)


def _frames(observation: dict[str, np.ndarray]) -> np.ndarray:
    return observation["observation.images.top"]


def _column_of_the_square(frame: np.ndarray) -> float:
    """Where the dark square stands: the mean column, weighted by darkness."""
    darkness = 255.0 - frame.astype(float).mean(-1)
    return float((darkness.sum(0) * np.arange(frame.shape[1])).sum() / darkness.sum())


def test_the_square_goes_where_the_action_puts_it(checkpoint: Path) -> None:
    world = LearnedWorld(str(checkpoint), 2)
    world.reset(seed=0)
    observation, *_ = world.step(np.array([[6.0, 16.0], [26.0, 16.0]], np.float32))
    left, right = (_column_of_the_square(frame) for frame in _frames(observation))
    assert left == pytest.approx(6, abs=4)
    assert right == pytest.approx(26, abs=4)


def test_the_state_is_read_from_what_was_predicted(checkpoint: Path) -> None:
    world = LearnedWorld(str(checkpoint), 1)
    world.reset(seed=0)
    observation, *_ = world.step(np.array([[20.0, 12.0]], np.float32))
    assert np.allclose(observation["observation.state"], [[20, 12]], atol=4)


def test_it_starts_from_a_given_frame(checkpoint: Path) -> None:
    start = {"observation.images.top": from_pretrained(checkpoint).start_frames[3][None]}
    start["observation.state"] = np.zeros((1, 2), np.float32)
    observation, _ = LearnedWorld(str(checkpoint), 1).reset(seed=0, options={"start": start})
    difference = _frames(observation)[0].astype(float) - start["observation.images.top"][0]
    assert np.abs(difference).mean() < 10


def test_a_start_says_what_the_probe_reads_of_its_frame(checkpoint: Path) -> None:
    loaded = from_pretrained(checkpoint)
    frames = loaded.start_frames[3:5]
    start = {"observation.images.top": frames, "observation.state": np.zeros((2, 2), np.float32)}
    _, info = LearnedWorld(str(checkpoint), 2).reset(seed=0, options={"start": start})
    assert loaded.probe is not None
    read = loaded.probe(frames)["place"]
    assert list(info["start"]) == ["place.x", "place.y"]
    np.testing.assert_allclose(np.stack(list(info["start"].values()), axis=1), read, atol=1e-3)


def test_the_square_keeps_its_colour(checkpoint: Path) -> None:
    world = LearnedWorld(str(checkpoint), 1)
    world.reset(seed=0)
    observation, *_ = world.step(np.array([[16.0, 16.0]], np.float32))
    red, green, blue = _frames(observation)[0, 14:18, 14:18].mean((0, 1))
    # (40, 60, 120) in reality
    assert blue > green > red
    assert blue - red > 40


def test_a_start_of_another_size_is_refused_with_the_difference(checkpoint: Path) -> None:
    start = {"observation.images.top": np.zeros((1, 8, 8, 3), np.uint8)}
    with pytest.raises(SpecMismatch, match=r"top is uint8 \(1, 8, 8, 3\), expected uint8 \(1, 32, 32, 3\)"):
        LearnedWorld(str(checkpoint), 1).reset(options={"start": start})


def test_a_start_without_the_camera_is_refused_by_its_name(checkpoint: Path) -> None:
    with pytest.raises(SpecMismatch, match=r"observation\.images\.top is missing"):
        LearnedWorld(str(checkpoint), 1).reset(options={"start": {}})


def test_noise_is_trusted_less_than_real_frames(checkpoint: Path) -> None:
    world = LearnedWorld(str(checkpoint), 2)
    rng = np.random.default_rng(0)
    real = from_pretrained(checkpoint).start_frames[0]
    noise = rng.integers(0, 256, real.shape, np.uint8)
    start = {"observation.images.top": np.stack([real, noise]), "observation.state": np.zeros((2, 2), np.float32)}
    _, info = world.reset(seed=0, options={"start": start})
    assert info["trust"][0] > 0.5 > info["trust"][1]


def test_what_was_saved_loads_equal(checkpoint: Path, tmp_path: Path) -> None:
    first = from_pretrained(checkpoint)
    save_pretrained(tmp_path / "copy", first.model, first.probe, first.start_frames, first.start_states)
    second = from_pretrained(tmp_path / "copy")
    assert second.hash == first.hash
    assert second.model.spec == SPEC
    assert second.model.tasks[0] == "Move the square."
    assert all((second.model.state_dict()[name] == value).all() for name, value in first.model.state_dict().items())


def test_a_folder_without_a_world_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no world at .*config\.json.*demoloom train-world"):
        LearnedWorld(str(tmp_path), 1)


def test_a_cut_off_checkpoint_is_refused_as_damaged(checkpoint: Path, tmp_path: Path) -> None:
    loaded = from_pretrained(checkpoint)
    save_pretrained(tmp_path, loaded.model, loaded.probe, loaded.start_frames, loaded.start_states)
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(CheckpointError, match="is damaged"):
        from_pretrained(tmp_path)


def test_without_labels_frames_follow_from_frames(tmp_path: Path) -> None:
    data = write_squares_without_labels(tmp_path / "interaction")
    quick = DynamicsTrainingConfig(num_steps=200, batch_size=16, num_rollouts=4, rollout_length=4)
    few = VectorTrainingConfig(num_steps=100)
    metrics = train_world(data, tmp_path / "world", replace(CONFIG, dynamics=quick, vectors=few, head_steps=50))
    assert not (tmp_path / "world" / "probe").exists()
    assert "label_error_real" not in metrics
    world = LearnedWorld(str(tmp_path / "world"), 2)
    world.reset(seed=0)
    for _ in range(2):
        observation, *_ = world.step(np.array([[6.0, 16.0], [26.0, 16.0]], np.float32))
    left, right = (_column_of_the_square(frame) for frame in _frames(observation))
    assert left < right - 5


def test_training_says_how_far_it_is_and_keeps_its_losses(checkpoint: Path) -> None:
    lines = [json.loads(line) for line in (checkpoint / "metrics.jsonl").read_text().splitlines()]
    assert {line["stage"] for line in lines} == {
        "autoencoder",
        "state and labels",
        "labels alone",
        "score",
        "probe",
        "probe on shown frames",
        "dynamics",
        "decoder",
    }
    assert (checkpoint / "preview.png").read_bytes().startswith(b"\x89PNG")


def test_another_format_is_refused_with_both_numbers(checkpoint: Path, tmp_path: Path) -> None:
    loaded = from_pretrained(checkpoint)
    save_pretrained(tmp_path, loaded.model, loaded.probe, loaded.start_frames, loaded.start_states)
    config = json.loads((tmp_path / "config.json").read_text()) | {"format": 99}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError, match=r"format 99, this version reads 4;"):
        from_pretrained(tmp_path)
