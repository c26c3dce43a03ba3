"""A training small enough to see through: two weights learn the sum of two numbers from random batches.

As a script, `toy_training.py FOLDER [EVENT]` trains in two processes, which leave their weights as `0.pt` and `1.pt`.
EVENT befalls them at step 5: `error` in both, `loss` of the second, `kill` of the first.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from demoloom.generators.learned.moments import Moments
from demoloom.generators.learned.optimisation import optimise
from demoloom.generators.learned.peers import Peers, open_peers
from demoloom.generators.learned.training_log import TrainingLog
from demoloom.generators.learned.training_stage import Training, TrainingStage

NUM_STEPS = 12


class Memory:
    """Carries a number from step to step, as a pool of rollouts carries its history."""

    def __init__(self) -> None:
        self.value = 0.0

    def state_dict(self) -> dict[str, Any]:
        return {"value": self.value}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.value = state_dict["value"]


def training_in(folder: Path, peers: Peers | None = None, check_every: int = 0) -> Training:
    """A training that saves every step in a folder."""
    folder.mkdir(exist_ok=True)
    log = TrainingLog(folder / "metrics.jsonl", NUM_STEPS)
    return Training(0, log, Moments(folder, 0.0), peers or Peers(), check_every)


def new_net() -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(2, 1, bias=False)


def batch_of(stage: TrainingStage) -> Tensor:
    """(4, 2): two numbers of NumPy's generator and two of torch's, twice each."""
    numbers = torch.from_numpy(stage.rng.normal(size=(2, 2))).float()
    return torch.cat([numbers, torch.randn((2, 2), generator=stage.noise)])


def fail() -> None:
    raise KeyboardInterrupt


def train_sum(
    training: Training, net: nn.Linear, event_at: int = NUM_STEPS, event: Callable[[], None] = fail,
    check: Callable[[], dict[str, float]] | None = None,
) -> list[float]:  # fmt: skip
    """Train, up to an event at a step; gives the losses."""
    stage, memory, losses = training.stage("sum"), Memory(), list[float]()

    def loss_at(step: int) -> Tensor:
        if step == event_at:
            event()
        x = batch_of(stage)
        memory.value += float(x.mean())
        loss = (net(x)[:, 0] - x.sum(1) - memory.value).square().mean()
        losses.append(loss.item())
        return loss

    optimise([net], loss_at, NUM_STEPS, 1e-2, stage, [memory], check)
    return losses


def train_together(peers: Peers, folder: Path, event: str) -> None:
    net = new_net()
    (folder / f"{peers.rank}.pid").write_text(str(os.getpid()))
    befalls = event == "error" or (event, peers.rank) in (("loss", 1), ("kill", 0))
    action = fail if event == "error" else lambda: os.kill(os.getpid(), signal.SIGKILL)
    train_sum(training_in(folder, peers), net, 5 if befalls else NUM_STEPS, action)
    torch.save(net.weight.detach(), folder / f"{peers.rank}.pt")


if __name__ == "__main__":
    arguments = (Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
    with open_peers(2, train_together, *arguments) as first:
        train_together(first, *arguments)
