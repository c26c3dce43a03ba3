from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from demoloom.generators.learned.config import Prediction, WorldConfig
from demoloom.generators.learned.consistency import (
    LATENTS,
    NoiseScale,
    NoisyChange,
    Objective,
    sample,
    sampling_levels,
    white_noise,
)
from demoloom.storage.errors import ConfigError


def _noisy(change: float, level: float) -> NoisyChange:
    return NoisyChange(torch.full((1, 1, 1, 1), change), torch.tensor([level]))


def test_a_change_without_noise_is_what_it_is_whatever_the_network_says() -> None:
    assert _noisy(0.3, 0.0).resolve(torch.full((1, 1, 1, 1), 9.0)).item() == pytest.approx(0.3)


def test_under_the_largest_noise_the_network_has_the_word() -> None:
    assert _noisy(0.3, LATENTS.largest).resolve(torch.full((1, 1, 1, 1), 9.0)).item() == pytest.approx(9.0, rel=0.02)


def test_sampling_begins_with_the_largest_noise_and_a_quarter_of_it_follows() -> None:
    assert sampling_levels(1) == [LATENTS.largest]
    assert sampling_levels(3) == [LATENTS.largest, LATENTS.largest / 4, LATENTS.largest / 16]


def test_a_regression_is_compared_with_what_happened() -> None:
    target, chance = torch.ones(2, 1, 1, 1), torch.Generator()
    answer = (torch.zeros(2, 1, 1, 1), torch.zeros(2, 1, 1, 1))
    _, aim, weight = Objective(samples=False, noise=chance).compare(lambda noisy: answer, target, target, done=0.9)
    assert aim is target
    assert weight == 1


ALONE = NoiseScale(usual=0.1, largest=1.0, smallest=0.1, share_largest=0.5, num_stages=1, hides=True)


def _shown(scale: NoiseScale, done: float) -> tuple[NoisyChange, Tensor]:
    """What a model is shown of a change of 100 under the largest noise, and what it is to say."""
    change, seen = torch.full((4, 1, 8, 8), 100.0), list[NoisyChange]()

    def predict(noisy: NoisyChange | None) -> tuple[Tensor]:
        assert noisy is not None
        seen.append(noisy)
        return (noisy.change,)

    objective = Objective(samples=True, noise=torch.Generator().manual_seed(0), scale=scale)
    _, aim, _ = objective.compare(predict, change, change, done, begins=True)
    return seen[0], aim


def test_where_the_largest_noise_stands_alone_nothing_is_seen_of_the_change() -> None:
    assert _shown(LATENTS, done=0)[0].change.mean() == pytest.approx(100, abs=1)
    assert _shown(ALONE, done=0)[0].change.mean() == pytest.approx(0, abs=1)


def test_with_one_stage_a_model_learns_to_the_end_what_really_came() -> None:
    assert (_shown(ALONE, done=1)[1] == 100).all()
    assert not (_shown(LATENTS, done=1)[1] == 100).all()


def test_in_no_steps_out_of_noise_a_prediction_is_a_regressions() -> None:
    base = torch.ones(2, 1, 1, 1)
    assert sample(lambda noisy: base + 1 if noisy is None else base, base, 0, None).tolist() == (base + 1).tolist()


def test_each_step_goes_on_from_the_one_before_under_less_noise() -> None:
    levels = list[float]()

    def predict(noisy: NoisyChange | None) -> Tensor:
        assert noisy is not None
        levels.append(noisy.level[0].item())
        return 5 + noisy.change - noisy.level[:, None, None, None]

    noise = torch.ones(1, 2, 1, 1, 1)
    # 5 + 0 + 1 - 1, then 5 + (5 - 5) + 0.25 - 0.25
    assert sample(predict, torch.full((1, 1, 1, 1), 5.0), 2, noise, ALONE).item() == 5
    assert levels == [1, 0.25]


def test_noise_is_of_a_slots_own_seed_and_step_alone() -> None:
    both = white_noise(torch.tensor([5, 6]), torch.tensor([0, 3]), (1, 2, 2))
    alone = white_noise(torch.tensor([6]), torch.tensor([3]), (1, 2, 2))
    assert torch.equal(both[1], alone[0])
    assert not torch.equal(white_noise(torch.tensor([6]), torch.tensor([4]), (1, 2, 2)), alone)
    assert not torch.equal(white_noise(torch.tensor([6]), torch.tensor([3]), (1, 2, 2), use=1), alone)


def test_noise_has_mean_0_and_deviation_1() -> None:
    drawn = white_noise(torch.arange(100), torch.arange(100), (100,))
    assert drawn.mean().abs() < 0.05
    assert drawn.std() == pytest.approx(1, abs=0.05)


class _Coin(nn.Module):
    """Says what a change is that is known only under noise; it sees nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))

    def forward(self, noisy: NoisyChange | None, count: int = 128) -> tuple[Tensor, Tensor]:
        if noisy is None:
            return self.net(torch.zeros(count, 2))[:, :, None, None], torch.zeros(count)
        change, level = noisy.scaled()
        said = self.net(torch.cat([change[:, :, 0, 0], level], 1))[:, :, None, None]
        return noisy.resolve(said), level


def _after_training(prediction: Prediction) -> np.ndarray:
    """What comes after 128 tosses: a change of 0.5 or -0.5, by chance."""
    torch.manual_seed(0)
    coin, chance = _Coin(), torch.Generator().manual_seed(0)
    objective, optimiser = Objective(prediction == "consistency", chance), torch.optim.Adam(coin.parameters(), 3e-3)
    for step in range(800):
        change = torch.randint(0, 2, (128, 1, 1, 1), generator=chance) - 0.5
        (predicted, _), aim, weight = objective.compare(coin, change, change, step / 800)
        loss = weight * (predicted - aim).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        if prediction == "regression":
            return coin(None)[0].numpy().ravel()
        change = torch.zeros(128, 1, 1, 1)
        for level in sampling_levels(2):
            noise = level * torch.randn(change.shape, generator=chance)
            change, _ = coin(NoisyChange(change + noise, torch.full((128,), level)))
        return change.numpy().ravel()


def test_of_two_things_that_may_come_a_regression_shows_the_mean_and_a_sample_one() -> None:
    assert np.abs(_after_training("regression")).max() < 0.1
    samples = _after_training("consistency")
    assert np.median(np.abs(samples)) > 0.3
    assert 0.15 < (samples > 0).mean() < 0.85


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampling_steps": 2}, "sampling_steps of a regression model must be 1 to 1, got 2"),
        (
            {"prediction": "consistency", "sampling_steps": 5},
            "sampling_steps of a consistency model must be 1 to 4, got 5",
        ),
        ({"prediction": "diffusion"}, "prediction must be one of regression, consistency, got 'diffusion'"),
        ({"downscale": 5}, "downscale must be one of 4, 8, 16, got 5"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        WorldConfig(**settings)  # type: ignore[arg-type]
