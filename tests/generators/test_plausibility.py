import pytest
import torch

from demoloom.generators.learned.plausibility import Plausibility, PlausibilityNet, plausibility_loss

NAMES = ["agent", "x", "y", "cos", "sin"]


def real_labels(count: int, noise: torch.Generator) -> torch.Tensor:
    """A body somewhere in a room that reaches from -0.2 to 0.2 on both axes, in any direction."""
    place, angle = torch.rand(count, 2, generator=noise), 6.3 * torch.rand(count, generator=noise)
    return torch.stack([0.4 * place[:, 0] - 0.2, 0.4 * place[:, 1] - 0.2, angle.cos(), angle.sin()], 1)


def beside_state(labels: torch.Tensor) -> torch.Tensor:
    """Vectors: the same state before each."""
    return torch.cat([torch.full((len(labels), 1), 0.5), labels], 1)


def train(drifted: torch.Tensor) -> PlausibilityNet:
    torch.manual_seed(0)
    net, noise = PlausibilityNet(NAMES[1:], 0, 64, from_bodies=False), torch.Generator().manual_seed(0)
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for _ in range(400):
        optimiser.zero_grad()
        real, origins = real_labels(192, noise).split([128, 64])
        plausibility_loss(net, real, origins, drifted[torch.randint(len(drifted), (64,))], noise).backward()
        optimiser.step()
    return net.requires_grad_(False)


@pytest.fixture(scope="module")
def trained() -> PlausibilityNet:
    """Against a dynamics that makes no mistakes."""
    return train(real_labels(500, torch.Generator().manual_seed(1)))


def test_a_body_in_the_wall_is_led_out_of_it(trained: PlausibilityNet) -> None:
    plausibility = Plausibility(NAMES, 1, 64)
    plausibility.alone = trained
    inside = torch.tensor([[0.5, 0.45, 0.1, 0.6, 0.8]])
    settled = plausibility.settle(inside)
    assert settled[0, 1] < 0.3
    assert settled[0, 3:].norm().item() == pytest.approx(1, abs=1e-5)
    assert settled[0, 0] == inside[0, 0]


def test_a_body_where_one_can_be_stays_to_the_bit(trained: PlausibilityNet) -> None:
    real = real_labels(500, torch.Generator().manual_seed(7))
    stayed = (trained.settle(real) == real).all(1)
    assert stayed.float().mean() > 0.98


def test_where_a_dynamics_drifts_to_is_learnt_though_it_is_near(trained: PlausibilityNet) -> None:
    # A dynamics lets a body sink 0.03 into the wall on its right; disturbances alone teach little of so near a place.
    sunk = real_labels(500, torch.Generator().manual_seed(2))
    sunk[:, 0] = 0.23
    _, before = trained(sunk)
    _, after = train(sunk)(sunk)
    assert after.median() < before.median() - 1


def test_labels_that_the_state_rules_out_move_and_the_state_does_not() -> None:
    plausibility = Plausibility(NAMES, 1, 16)
    assert plausibility.beside is not None
    # Whatever is seen does not occur, and the way back is a tenth ahead; this body faces along y. Four times it is led.
    plausibility.beside.output.bias.data = torch.tensor([0.1, 0.0, 0.0, 0.0, -9.0])
    vector = beside_state(torch.tensor([[0.0, 0.0, 0.0, 1.0]]))
    assert plausibility.settle(vector)[0].tolist() == pytest.approx([0.5, 0.0, 0.4, 0.0, 1.0], abs=1e-6)


def test_before_training_everything_is_plausible() -> None:
    rows = torch.randn(50, 5)
    assert torch.equal(Plausibility(NAMES, 1, 16).settle(rows), rows)


def test_what_was_learnt_can_be_forgotten() -> None:
    plausibility, rows = Plausibility(NAMES, 1, 16), torch.randn(5, 5)
    for net in (plausibility.alone, plausibility.beside):
        assert net is not None
        net.output.bias.data = torch.tensor([0.1, 0.1, 0.1, 0.1, -9.0])
    assert (plausibility.settle(rows)[:, 1:] != rows[:, 1:]).all()
    plausibility.forget()
    assert torch.equal(plausibility.settle(rows), rows)


def test_only_labels_are_disturbed_and_directions_stay_directions() -> None:
    noise = torch.Generator().manual_seed(0)
    real = beside_state(real_labels(100, noise))
    disturbed = PlausibilityNet(NAMES, 1, 16, from_bodies=False).disturb(real, 0.1, noise)
    assert torch.equal(disturbed[:, 0], real[:, 0])
    assert (disturbed[:, 1:] != real[:, 1:]).all()
    assert disturbed[:, 3:].norm(dim=1).tolist() == pytest.approx([1.0] * 100, abs=1e-5)
    assert ((disturbed - real)[:, 1:3] / 0.1).std().item() == pytest.approx(1, abs=0.2)


def test_places_and_directions_turn_together_by_quarters() -> None:
    noise = torch.Generator().manual_seed(0)
    real = torch.tensor([[0.5, 0.1, 0.2, 1.0, 0.0]]).expand(40, -1)
    turned = {
        tuple(row)
        for row in PlausibilityNet(NAMES, 1, 16, from_bodies=False).turn(real, noise).mul(10).round().int().tolist()
    }
    assert turned == {(5, 1, 2, 10, 0), (5, -2, 1, 0, 10), (5, -1, -2, -10, 0), (5, 2, -1, 0, -10)}
