import pytest
import torch

from demoloom.policies.latent import LatentConfig
from demoloom.policies.latent.modeling_latent import anchor
from demoloom.policies.latent.network import FlowHead, SpatialSoftmax, coordinates


def test_the_anchor_is_the_state_in_the_actions_units() -> None:
    stats = {
        "observation.state": {"mean": [100.0, 10.0], "std": [50.0, 2.0]},
        "action": {"mean": [90.0, 0.0], "std": [25.0, 1.0]},
    }
    scale, shift = anchor([0, -1], 2, stats)
    # A state of 150 is 1 normalised; the action "go to 150" is (150 - 90) / 25 = 2.4.
    assert (scale @ torch.tensor([1.0, 0.0]) + shift).tolist() == pytest.approx([2.4, 0.0])


def test_spatial_softmax_finds_the_hot_cell() -> None:
    layer = SpatialSoftmax(1, 1)
    torch.nn.init.constant_(layer.heat.weight, 50.0)
    maps = torch.zeros(1, 1, 3, 5)
    maps[0, 0, 2, 1] = 1
    assert layer(maps)[0].tolist() == pytest.approx([1.0, -0.5], abs=1e-4)


def test_coordinates_run_from_minus_one_to_one_rows_first() -> None:
    grid = coordinates(2, 3)
    assert grid[0].tolist() == [[-1, -1, -1], [1, 1, 1]]
    assert grid[1].tolist() == [[-1, 0, 1], [-1, 0, 1]]


def test_the_flow_depends_on_time_and_observation() -> None:
    torch.manual_seed(0)
    head, noisy, seen = FlowHead(4, 2, 16, 1, 0.0), torch.randn(3, 4, 2), torch.randn(3, 16)
    early, late = torch.zeros(3), torch.ones(3)
    assert head(noisy, early, seen).shape == (3, 4, 2)
    assert not torch.allclose(head(noisy, early, seen), head(noisy, late, seen))
    assert not torch.allclose(head(noisy, early, seen), head(noisy, early, -seen))


def test_more_executed_than_predicted_actions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"between 1 and chunk_size \(8\), got 9"):
        LatentConfig(device="cpu", n_action_steps=9)
