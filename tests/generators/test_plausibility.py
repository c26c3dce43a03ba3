import pytest
import torch

from demoloom.generators.learned.plausibility import Plausibility, plausibility_loss

NAMES = ["agent", "x", "y", "cos", "sin"]


def real_rows(count: int, noise: torch.Generator) -> torch.Tensor:
    """A body somewhere in a room that reaches from -0.2 to 0.2 on both axes, in any direction."""
    place, angle = torch.rand(count, 3, generator=noise), 6.3 * torch.rand(count, generator=noise)
    return torch.stack([place[:, 0], 0.4 * place[:, 1] - 0.2, 0.4 * place[:, 2] - 0.2, angle.cos(), angle.sin()], 1)


@pytest.fixture(scope="module")
def trained() -> Plausibility:
    torch.manual_seed(0)
    plausibility, noise = Plausibility(NAMES, 1, 64), torch.Generator().manual_seed(0)
    optimiser = torch.optim.AdamW(plausibility.parameters(), lr=3e-3)
    for _ in range(400):
        optimiser.zero_grad()
        plausibility_loss(plausibility, real_rows(256, noise), noise).backward()
        optimiser.step()
    return plausibility.requires_grad_(False)


def test_a_body_in_the_wall_is_led_out_of_it(trained: Plausibility) -> None:
    inside = torch.tensor([[0.5, 0.45, 0.1, 0.6, 0.8]])
    settled = trained.settle(inside)
    assert settled[0, 1] < 0.3
    assert settled[0, 3:].norm().item() == pytest.approx(1, abs=1e-5)
    assert settled[0, 0] == inside[0, 0]


def test_a_body_where_one_can_be_stays_to_the_bit(trained: Plausibility) -> None:
    real = real_rows(500, torch.Generator().manual_seed(7))
    stayed = (trained.settle(real) == real).all(1)
    assert stayed.float().mean() > 0.98


def test_before_training_everything_is_plausible() -> None:
    rows = torch.randn(50, 5)
    assert torch.equal(Plausibility(NAMES, 1, 16).settle(rows), rows)


def test_the_share_of_real_rows_taken_for_impossible_is_known_and_can_be_forgotten() -> None:
    plausibility = Plausibility(NAMES, 1, 16)
    plausibility.output.bias.data[-1] = -9
    assert plausibility.share_astray(torch.randn(5, 5)) == 1
    plausibility.forget()
    assert plausibility.share_astray(torch.randn(5, 5)) == 0


def test_only_labels_are_disturbed_and_directions_stay_directions() -> None:
    noise = torch.Generator().manual_seed(0)
    real = real_rows(100, noise)
    level = torch.full((100, 1), 0.1)
    disturbed = Plausibility(NAMES, 1, 16).disturb(real, level, noise)
    assert torch.equal(disturbed[:, 0], real[:, 0])
    assert (disturbed[:, 1:] != real[:, 1:]).all()
    assert disturbed[:, 3:].norm(dim=1).tolist() == pytest.approx([1.0] * 100, abs=1e-5)
    shift = (disturbed - real)[:, 1:3]
    assert (shift / level).std().item() == pytest.approx(1, abs=0.2)


def test_places_and_directions_turn_together_by_quarters() -> None:
    noise = torch.Generator().manual_seed(0)
    real = torch.tensor([[0.5, 0.1, 0.2, 1.0, 0.0]]).expand(40, -1)
    turned = {tuple(row) for row in Plausibility(NAMES, 1, 16).turn(real, noise).mul(10).round().int().tolist()}
    assert turned == {(5, 1, 2, 10, 0), (5, -2, 1, 0, 10), (5, -1, -2, -10, 0), (5, 2, -1, 0, -10)}
