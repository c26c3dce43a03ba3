import torch

from demoloom.generators.learned.vector_dynamics import VectorDynamics

NAMES = ["agent_x", "agent_y", "x", "y", "cos", "sin"]


def some_rows(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.rand(count, 2, 6, generator=generator), torch.rand(count, 2, 2, generator=generator)


def dynamics(num_members: int) -> VectorDynamics:
    torch.manual_seed(0)
    return VectorDynamics(NAMES, 2, 16, num_members).requires_grad_(False)


def test_numbers_whose_gate_is_closed_do_not_change_at_all() -> None:
    net = dynamics(2)
    net.gate.weight.zero_()
    net.gate.bias.copy_(torch.tensor([9.0, 9.0, 9.0, 9.0, -9.0, -9.0]).expand(2, 1, -1))
    change, _ = net.agree(*some_rows(5))
    assert (change[:, :4] != 0).all()
    assert (change[:, 4:] == 0).all()


def test_members_of_one_mind_do_not_disagree() -> None:
    net = dynamics(2)
    for weights in net.parameters():
        weights[1] = weights[0]
    _, spread = net.agree(*some_rows(5))
    assert spread.abs().max() < 1e-6


def test_members_begin_from_other_weights() -> None:
    _, spread = dynamics(2).agree(*some_rows(5))
    assert (spread > 0).all()


def test_in_double_precision_a_row_does_not_depend_on_those_beside_it() -> None:
    net, (history, actions) = dynamics(3).double(), some_rows(64)
    together, _ = net.agree(history, actions)
    alone = [net.agree(history[i : i + 1], actions[i : i + 1])[0] for i in range(64)]
    assert together.dtype == torch.float32
    assert torch.equal(together, torch.cat(alone))
