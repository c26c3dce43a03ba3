import threading
from pathlib import Path

import pytest
import torch

from demoloom.generators.learned.optimisation import autocast, optimise

from .toy_training import NUM_STEPS, new_net, train_sum, training_in


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


@pytest.mark.parametrize("step", range(NUM_STEPS))
def test_a_training_stopped_at_any_step_goes_on_to_the_same_weights(step: int, tmp_path: Path) -> None:
    whole, parts = new_net(), new_net()
    losses = train_sum(training_in(tmp_path / "whole"), whole)
    with pytest.raises(KeyboardInterrupt):
        train_sum(training_in(tmp_path / "parts"), parts, event_at=step)
    parts = new_net()
    assert train_sum(training_in(tmp_path / "parts"), parts) == losses[step:]
    assert torch.equal(parts.weight, whole.weight)


def test_a_finished_training_is_not_run_again(tmp_path: Path) -> None:
    first, second = new_net(), new_net()
    train_sum(training_in(tmp_path), first)
    assert train_sum(training_in(tmp_path), second) == []
    assert torch.equal(first.weight, second.weight)


@pytest.mark.parametrize(("leap", "moves"), [(1.0, True), (1e6, False)])
def test_a_leap_of_the_loss_is_skipped(leap: float, moves: bool, tmp_path: Path) -> None:
    net, training, before = new_net(), training_in(tmp_path), torch.zeros(1, 2)

    def loss_at(step: int) -> torch.Tensor:
        before.copy_(net.weight.detach())
        return (net(torch.ones(1, 2)) - 2).square().sum() * (leap if step == 3 else 1.0)

    optimise([net], loss_at, 4, 1e-3, training.stage("sum"))
    last = training.moments.load("sum")
    assert last is not None
    assert torch.equal(last["shared"]["weights"][0], before) != moves


def test_a_check_sees_the_average_and_leaves_the_training_alone(tmp_path: Path) -> None:
    plain, checked, seen = new_net(), new_net(), []

    def check() -> dict[str, float]:
        torch.rand(7)
        seen.append(checked.weight.detach().clone())
        return {"psnr_16": 20.0}

    train_sum(training_in(tmp_path / "plain"), plain)
    train_sum(training_in(tmp_path / "checked", check_every=NUM_STEPS), checked, check=check)
    assert torch.equal(plain.weight, checked.weight)
    # What is checked after the last step is what a training leaves.
    assert torch.equal(seen[0], checked.weight)
    assert '"step": 11, "psnr_16": 20.0' in (tmp_path / "checked" / "metrics.jsonl").read_text()
