from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from demoloom.generators.learned.consistency import NoisyChange
from demoloom.generators.learned.crops import Crops
from demoloom.generators.learned.devices import choose_device, moved, run_on
from demoloom.generators.learned.presets import presets
from demoloom.generators.learned.training import train_world
from demoloom.generators.learned.training_config import WorldTrainingConfig
from demoloom.generators.learned.world import LearnedWorld
from demoloom.storage.errors import ConfigError

from .moving_square import CONFIG, write_squares_without_labels

without_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="claims what happens without a GPU")
META = torch.device("meta")


@without_gpu
def test_a_gpu_that_is_not_there_is_refused_and_auto_does_without() -> None:
    with pytest.raises(ConfigError, match="torch finds no CUDA GPU here; set device to auto or cpu"):
        choose_device("cuda")
    assert choose_device("auto") == choose_device("cpu") == torch.device("cpu")


def test_tensors_move_wherever_they_stand_but_for_windows() -> None:
    one, window = torch.zeros(2), Crops(torch.zeros(1, 2), torch.zeros(1, 2))
    (first, none), named = moved(((one, None), {"noisy": NoisyChange(one, one), "crops": window}), META)
    assert first.device == named["noisy"].change.device == named["noisy"].level.device == META
    assert none is None
    assert named["crops"] is window


class _Watcher(nn.Module):
    """Notes on which device it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.asked: list[torch.device] = []

    def forward(self, x: Tensor) -> Tensor:
        self.asked.append(x.device)
        return x * self.weight


def test_on_the_cpu_a_network_is_left_as_it_is() -> None:
    watcher = _Watcher()
    run_on(torch.device("cpu"), watcher)
    assert "forward" not in vars(watcher)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_on_a_gpu_a_network_takes_and_gives_tensors_of_the_cpu() -> None:
    watcher = _Watcher()
    run_on(torch.device("cuda"), watcher)
    answer = watcher(torch.ones(2))
    assert watcher.asked[0].type == "cuda"
    assert answer.device.type == "cpu"


def test_several_processes_on_a_gpu_are_refused() -> None:
    with pytest.raises(ConfigError, match="several processes train on the CPU only, got device cuda"):
        WorldTrainingConfig(num_processes=2, device="cuda")


@pytest.mark.parametrize("device", ["auto"])
def test_the_preset_for_a_gpu_trains_a_world_in_small(device: str, tmp_path: Path) -> None:
    gpu = presets["gpu"]
    assert gpu.device == device
    small = {
        name: getattr(CONFIG.model, name)
        for name in ("autoencoder_width", "dynamics_width", "vector_width", "reader_width")
    }
    config = replace(
        gpu,
        model=replace(gpu.model, num_dynamics_blocks=2, **small),
        dynamics=replace(gpu.dynamics, num_steps=12, batch_size=8, num_rollouts=2),
        autoencoder_steps=12,
        vectors=replace(gpu.vectors, num_steps=12, plausibility_steps=6),
        decoder_steps=2,
        head_steps=4,
        inverse_steps=4,
        autoencoder_batch=8,
        head_batch=4,
    )
    train_world(write_squares_without_labels(tmp_path / "interaction", 6), tmp_path / "world", config)
    world = LearnedWorld(str(tmp_path / "world"), 1, device="auto")
    assert world.observation_space.contains(world.reset(seed=0)[0])
