"""One loop for every network here: warm-up and cosine, clipping, spike skipping, an average of the weights."""

from __future__ import annotations

import contextlib
import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from ...storage.progress import Progress, silent

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


@dataclass
class TrainingLog:
    """Tells how far a training is, and keeps its losses as lines of JSON for the report.

    Args:
        path: file to append to.
        total: steps of all stages together, for the progress.
    """

    path: Path
    total: int
    progress: Progress = silent
    done: int = 0
    _told: float = field(default=0.0, repr=False)

    def step(self, stage: str, step: int, loss: float, lr: float) -> None:
        """Count one step; tell of it twice a second at most and write one line in 20 steps."""
        self.done += 1
        if step % 20 == 0:
            with self.path.open("a") as lines:
                lines.write(json.dumps({"stage": stage, "step": step, "loss": round(loss, 6), "lr": lr}) + "\n")
        if time.monotonic() - self._told > 0.5:
            self._told = time.monotonic()
            self.progress(self.done, self.total, f"{stage}: loss {loss:.4f}")


def optimise(
    modules: list[nn.Module], loss_at: Callable[[int], Tensor], num_steps: int, lr: float, stage: str, log: TrainingLog
) -> None:
    """Train `modules` in place and leave the exponential average of their weights in them.

    Args:
        loss_at: called with the step's number, gives the loss.
        lr: highest learning rate, reached after a short warm-up and then lowered to a twentieth on a cosine.
    """
    parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=lr, betas=(0.9, 0.95), weight_decay=0.01, foreach=True)
    average = WeightAverage(parameters)
    usual = math.inf
    for step in range(num_steps):
        rate = lr * _schedule(step, num_steps)
        for group in optimiser.param_groups:
            group["lr"] = rate
        loss = loss_at(step)
        value = loss.item()
        log.step(stage, step, value, rate)
        if not value < _SPIKE * usual:
            usual *= 1.05
            continue
        usual = value if usual == math.inf else 0.98 * usual + 0.02 * value
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
        optimiser.step()
        average.update(step)
    average.copy_to(parameters)


def _schedule(step: int, num_steps: int) -> float:
    warm_up = min(_WARM_UP, num_steps // 5 + 1)
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, num_steps - warm_up)))


class WeightAverage:
    """Exponential average of weights, short at first and up to 1 / (1 - 0.995) steps long."""

    def __init__(self, parameters: list[nn.Parameter]) -> None:
        self._source = parameters
        self._average = [p.detach().clone() for p in parameters]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Take in the weights as they are now."""
        keep = min(0.995, (1 + step) / (10 + step))
        torch._foreach_lerp_(self._average, [p.detach() for p in self._source], 1 - keep)

    @torch.no_grad()
    def copy_to(self, parameters: list[nn.Parameter]) -> None:
        """Put the average into `parameters`."""
        for parameter, average in zip(parameters, self._average, strict=True):
            parameter.copy_(average)


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
