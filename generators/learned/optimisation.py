"""One loop for every network here: warm-up and cosine, clipping, spike skipping, an average of the weights."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from .peers import Group
from .training_stage import Stateful, TrainingStage

_WARM_UP = 100
#: A loss this many times its running mean is skipped: at 64 px one such step once cost an autoencoder 10 dB for good.
_SPIKE = 4.0


def bfloat16_pays() -> bool:
    """Whether this CPU multiplies bfloat16 in hardware; without, it is slower than float32."""
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def autocast(enabled: bool = True) -> torch.autocast:
    """bfloat16 for convolutions and products where that pays.

    Without torch's cache of converted weights: all threads share it and whoever leaves autocast first empties it, so
    that with two trainings side by side it was chance how a weight's gradients were rounded.
    """
    return torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled and bfloat16_pays(), cache_enabled=False)


#: Called now and then while training, with the averaged weights in place; gives figures for the log.
Check = Callable[[], Mapping[str, float]]


def optimise(
    modules: list[nn.Module], loss_at: Callable[[int], Tensor], num_steps: int, lr: float, stage: TrainingStage,
    carried: Sequence[Stateful] = (), check: Check | None = None,
) -> None:  # fmt: skip
    """Train `modules` in place and leave the exponential average of their weights in them.

    Killed and started again, it goes on from the stage's last saved moment and ends with the same weights to the bit.
    Processes that train together average their gradients.

    Args:
        loss_at: called with the step's number, gives the loss; what is random in it must come from the stage.
        lr: highest learning rate, reached after a short warm-up and then lowered to a twentieth on a cosine.
        carried: what `loss_at` changes and reads again in later steps.
        check: measured as often as the stage says.
    """
    descent, own = _Descent(modules, lr), list(carried)
    first = stage.go_on(descent, own)
    for step in range(first, num_steps):
        stage.turn_to(step)
        rate = descent.set_rate(lr * _schedule(step, num_steps))
        loss = loss_at(step)
        value, save = stage.agree(loss.item())
        stage.log(step, value, rate)
        descent.go(loss, value, step, stage.group)
        if check is not None and stage.check_due(step):
            with descent.averaged():
                stage.measure(step, check())
        if save:
            stage.save(step + 1, descent, own)
    if first < num_steps:
        stage.save(num_steps, descent, own)
    descent.average.copy_to(descent.parameters)


class _Descent:
    """What every training carries from step to step: weights, optimiser, the weights' average and the usual loss."""

    def __init__(self, modules: Sequence[nn.Module], lr: float) -> None:
        self.parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
        self.average = WeightAverage(self.parameters)
        self._optimiser = torch.optim.AdamW(self.parameters, lr=lr, betas=(0.9, 0.95), weight_decay=0.01, foreach=True)
        self._usual = math.inf

    def set_rate(self, rate: float) -> float:
        """Set the learning rate and return it."""
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        return rate

    def go(self, loss: Tensor, value: float, step: int, group: Group) -> None:
        """Take one step down, unless the loss leaps.

        Args:
            value: the loss, or its mean over all processes: they skip together.
        """
        if not value < _SPIKE * self._usual:
            self._usual *= 1.05
            return
        self._usual = value if self._usual == math.inf else 0.98 * self._usual + 0.02 * value
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()
        group.average([p.grad for p in self.parameters if p.grad is not None])
        nn.utils.clip_grad_norm_(self.parameters, 1.0, foreach=True)
        self._optimiser.step()
        self.average.update(step)

    @contextlib.contextmanager
    def averaged(self) -> Iterator[None]:
        """Put the average in place of the weights inside the block."""
        weights = [p.detach().clone() for p in self.parameters]
        self.average.copy_to(self.parameters)
        try:
            yield
        finally:
            _copy(weights, self.parameters)

    def state_dict(self) -> dict[str, Any]:
        """All of it."""
        return {
            "weights": [p.detach() for p in self.parameters],
            "average": self.average.weights,
            "optimiser": self._optimiser.state_dict(),
            "usual": self._usual,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Be again what it was."""
        _copy(state_dict["weights"], self.parameters)
        _copy(state_dict["average"], self.average.weights)
        self._optimiser.load_state_dict(state_dict["optimiser"])
        self._usual = state_dict["usual"]


@torch.no_grad()
def _copy(source: Sequence[Tensor], target: Sequence[Tensor]) -> None:
    for one, other in zip(source, target, strict=True):
        other.copy_(one)


def _schedule(step: int, num_steps: int) -> float:
    warm_up = min(_WARM_UP, num_steps // 5 + 1)
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, num_steps - warm_up)))


class WeightAverage:
    """Exponential average of weights, short at first and up to 1 / (1 - 0.995) steps long."""

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        self._source = parameters
        self.weights = [p.detach().clone() for p in parameters]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights as they are now."""
        keep = min(0.995, (1 + step) / (10 + step))
        torch._foreach_lerp_(self.weights, [p.detach() for p in self._source], 1 - keep)

    def copy_to(self, parameters: list[nn.Parameter]) -> None:
        """Put the average into `parameters`."""
        _copy(self.weights, parameters)


@contextlib.contextmanager
def frozen(*modules: nn.Module) -> Iterator[None]:
    """Keep these modules as they are inside the block."""
    for module in modules:
        module.requires_grad_(False)
    try:
        yield
    finally:
        for module in modules:
            module.requires_grad_(True)
