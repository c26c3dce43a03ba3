from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from demoloom.generators.learned.checkpoint import from_pretrained
from demoloom.generators.learned.inference import for_inference
from demoloom.generators.learned.optimisation import bfloat16_pays
from demoloom.generators.learned.world import LearnedWorld

_STEPS = 200
#: Of 255; measured 4 and 0.04.
_LEVELS, _USUAL_LEVELS = 8, 0.1

needs_bfloat16 = pytest.mark.skipif(not bfloat16_pays(), reason="this CPU computes in float32 anyway")


@pytest.fixture
def without_bfloat16() -> Iterator[Callable[[], None]]:
    """Makes this CPU one that multiplies in float32 only."""
    with pytest.MonkeyPatch.context() as patch:

        def switch() -> None:
            for unit in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"):
                patch.setattr(torch.cpu, unit, lambda: False)

        yield switch


def _drive(checkpoint: Path, num_envs: int = 1) -> dict[str, np.ndarray]:
    """Observations (steps, N, ...) of episodes from seed 0 on under the same actions, which go all over the board."""
    world = LearnedWorld(str(checkpoint), num_envs)
    actions = np.random.default_rng(0).uniform(4, 28, (_STEPS, 1, 2)).repeat(num_envs, 1)
    seen = [world.reset(seed=0)[0], *(world.step(action)[0] for action in actions)]
    return {name: np.stack([one[name] for one in seen]) for name in seen[0]}


@needs_bfloat16
def test_200_steps_in_bfloat16_show_what_float32_shows(toy_world: Path, without_bfloat16: Callable[[], None]) -> None:
    light = _drive(toy_world)
    without_bfloat16()
    exact = _drive(toy_world)
    difference = np.abs(light["observation.images.top"].astype(int) - exact["observation.images.top"])
    assert 0 < difference.max() <= _LEVELS
    assert difference.mean() <= _USUAL_LEVELS
    assert np.allclose(light["observation.state"], exact["observation.state"], atol=0.05)


def test_an_episode_is_the_same_to_the_byte_however_many_others_run_beside_it(toy_world: Path) -> None:
    alone, among = _drive(toy_world), _drive(toy_world, num_envs=3)
    assert all(np.array_equal(alone[name][:, 0], among[name][:, 0]) for name in alone)


@needs_bfloat16
def test_weights_kept_in_bfloat16_are_those_that_autocast_makes(toy_world: Path) -> None:
    loaded, light = from_pretrained(toy_world), for_inference(from_pretrained(toy_world).model)
    latents = loaded.model.encode(loaded.start_frames)
    assert torch.equal(light.encode(loaded.start_frames), latents)
    assert np.array_equal(light.decode(latents), loaded.model.decode(latents))


def test_without_bfloat16_all_weights_stay_as_they_are(toy_world: Path, without_bfloat16: Callable[[], None]) -> None:
    loaded = from_pretrained(toy_world).model
    without_bfloat16()
    kept = for_inference(from_pretrained(toy_world).model).state_dict()
    assert all(torch.equal(kept[name], weights) for name, weights in loaded.state_dict().items())


def test_a_hidden_history_is_one_of_zeros(toy_world: Path) -> None:
    model = from_pretrained(toy_world).model
    zeros = torch.zeros(2, model.config.num_latents, model.config.latent_channels, 8, 8)
    vector, actions, hidden = torch.rand(2, 4), torch.rand(2, 2, 2), torch.ones(2)
    with torch.inference_mode():
        drawn, gate = model.dynamics(None, vector, actions, hidden)
        again, gate_again = model.dynamics(zeros, vector, actions, hidden)
    assert torch.allclose(drawn, again, atol=1e-5)
    assert torch.allclose(gate, gate_again, atol=1e-5)
