import threading

import torch

from demoloom.generators.learned.optimisation import autocast


def gradient(layer: torch.nn.Linear, x: torch.Tensor, meanwhile: bool) -> torch.Tensor:
    """Of a layer used twice; another thread may leave autocast between the two uses."""
    layer.zero_grad()
    with autocast():
        once = layer(x)
        if meanwhile:
            other = threading.Thread(target=enter_and_leave)
            other.start()
            other.join()
        twice = layer(once)
    twice.float().square().sum().backward()
    assert layer.weight.grad is not None
    return layer.weight.grad.clone()


def enter_and_leave() -> None:
    with autocast():
        pass


def test_gradients_do_not_depend_on_other_threads() -> None:
    torch.manual_seed(0)
    layer, x = torch.nn.Linear(64, 64), torch.randn(8, 64)
    assert torch.equal(gradient(layer, x, meanwhile=False), gradient(layer, x, meanwhile=True))
