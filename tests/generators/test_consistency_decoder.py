from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from demoloom.generators.learned.autoencoder_training import set_background, train_autoencoder
from demoloom.generators.learned.checkpoint import from_pretrained, save_pretrained
from demoloom.generators.learned.config import WorldConfig
from demoloom.generators.learned.evaluation import psnr
from demoloom.generators.learned.interaction import Interaction, collect_rows
from demoloom.generators.learned.model import WorldModel
from demoloom.generators.learned.training_log import TrainingLog
from demoloom.generators.learned.training_stage import Training
from demoloom.generators.learned.world import LearnedWorld
from demoloom.storage.errors import ConfigError

from .moving_square import CONFIG, SPEC, square_episodes

#: What a white frame without its square has.
_BLANK_DB = 16.0


@dataclass(frozen=True)
class Trained:
    model: WorldModel
    data: Interaction
    held_out: np.ndarray

    def redrawn(self, noise: torch.Tensor | None = None) -> np.ndarray:
        """Held-out frames as they come out of the latents."""
        with torch.inference_mode():
            return self.model.decode(self.model.encode(self.data.frames[self.held_out]), noise)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    data = collect_rows(replace(SPEC, labels={}), (replace(one, labels={}) for one in square_episodes(20)))
    train, held_out = data.split(0.2)
    torch.manual_seed(0)
    model = WorldModel(replace(CONFIG.model, decoder="consistency", decoding_steps=2), data.spec)
    training = Training(0, TrainingLog(tmp_path_factory.mktemp("log") / "losses.jsonl", 0))
    set_background(model, data.frames, data.rows(train))
    train_autoencoder(model, data, data.rows(train), 400, 32, 8, 3e-3, training.stage("autoencoder"))
    return Trained(model.eval().requires_grad_(False), data, data.rows(held_out))


def test_frames_come_out_of_noise_as_they_were(trained: Trained) -> None:
    real = trained.data.frames[trained.held_out]
    untrained = WorldModel(trained.model.config, trained.data.spec)
    untrained.autoencoder.background.copy_(trained.model.autoencoder.background)
    assert psnr(trained.redrawn(), real) > _BLANK_DB + 8
    assert psnr(replace(trained, model=untrained).redrawn(), real) < _BLANK_DB


def test_other_noise_draws_another_frame_and_the_same_noise_the_same(trained: Trained) -> None:
    shape = trained.model.frame_noise_shape(len(trained.held_out))
    assert shape == (len(trained.held_out), 2, 3, 32, 32)
    first, second = (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) for seed in (1, 2))
    assert np.array_equal(trained.redrawn(first), trained.redrawn(first))
    assert not np.array_equal(trained.redrawn(first), trained.redrawn(second))


@pytest.fixture(scope="module")
def checkpoint(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("world") / "world"
    save_pretrained(path, trained.model, None, trained.data.frames[:4], trained.data.state[:4])
    return path


def test_what_was_saved_draws_the_same_frames(trained: Trained, checkpoint: Path) -> None:
    loaded = from_pretrained(checkpoint).model
    assert loaded.config.decoder == "consistency"
    assert np.array_equal(replace(trained, model=loaded).redrawn(), trained.redrawn())


def test_a_frame_is_of_its_slots_seed_and_step_alone(checkpoint: Path) -> None:
    def show(seeds: list[int]) -> list[np.ndarray]:
        world = LearnedWorld(str(checkpoint), len(seeds))
        actions = np.full((len(seeds), 2), 9, np.float32)
        seen = [world.reset(seed=seeds)[0], *(world.step(actions)[0] for _ in range(2))]
        return [one["observation.images.top"] for one in seen]

    alone, among = show([5]), show([4, 5])
    assert all(np.array_equal(one[0], other[1]) for one, other in zip(alone, among, strict=True))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"decoding_steps": 2}, "decoding_steps of a direct decoder must be 1 to 1, got 2"),
        (
            {"decoder": "consistency", "decoding_steps": 4},
            "decoding_steps of a consistency decoder must be 1 to 3, got 4",
        ),
        ({"decoder": "diffusion"}, "decoder must be one of direct, consistency, got 'diffusion'"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        WorldConfig(**settings)  # type: ignore[arg-type]
