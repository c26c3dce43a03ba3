from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import Tensor

from demoloom.generators.learned.optimisation import optimise
from demoloom.generators.learned.peers import Peers, check_processes, open_peers
from demoloom.storage.errors import ConfigError

from .toy_training import NUM_STEPS, batch_of, new_net, training_in

pytestmark = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="two processes need two cores")


def in_two_processes(folder: Path, event: str = "") -> subprocess.CompletedProcess[str]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, str(Path(__file__).with_name("toy_training.py")), str(folder), event]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def weights(folder: Path) -> list[Tensor]:
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in (0, 1)]


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("together")
    done = in_two_processes(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_both_processes_end_with_the_same_weights(together: Path) -> None:
    first, second = weights(together)
    assert torch.equal(first, second)


@pytest.mark.slow
def test_two_processes_do_what_one_does_with_both_batches(together: Path, tmp_path: Path) -> None:
    net = new_net()
    stages = [training_in(tmp_path, Peers(rank=rank)).stage("sum") for rank in (0, 1)]
    carried = [0.0, 0.0]

    def loss_at(step: int) -> Tensor:
        stages[1].turn_to(step)
        losses = []
        for rank, stage in enumerate(stages):
            x = batch_of(stage)
            carried[rank] += float(x.mean())
            losses.append((net(x)[:, 0] - x.sum(1) - carried[rank]).square().mean())
        return torch.stack(losses).mean()

    optimise([net], loss_at, NUM_STEPS, 1e-2, stages[0])
    assert torch.allclose(weights(together)[0], net.weight, atol=1e-6)
    assert not torch.allclose(new_net().weight, net.weight, atol=1e-3)


@pytest.mark.slow
def test_stopped_together_they_go_on_to_the_same_weights(together: Path, tmp_path: Path) -> None:
    assert in_two_processes(tmp_path / "parts", "error").returncode != 0
    done = in_two_processes(tmp_path / "parts")
    assert done.returncode == 0, done.stderr
    assert all(
        torch.equal(one, other) for one, other in zip(weights(tmp_path / "parts"), weights(together), strict=True)
    )


@pytest.mark.slow
def test_a_lost_process_is_named_with_the_remedy(tmp_path: Path) -> None:
    done = in_two_processes(tmp_path / "losing", "loss")
    assert "FleetError: training process 1 ended early (exit code -9); " in done.stderr
    assert "go on from the last saved moment" in done.stderr


@pytest.mark.slow
def test_no_process_outlives_the_first_one(tmp_path: Path) -> None:
    assert in_two_processes(tmp_path / "killed", "kill").returncode == -9
    second = Path("/proc", (tmp_path / "killed" / "1.pid").read_text())
    deadline = time.monotonic() + 60
    while second.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not second.exists()


def test_more_processes_than_cores_are_refused_with_both_numbers() -> None:
    cores = os.cpu_count() or 1
    with pytest.raises(ConfigError, match=f"at most the {cores} cores of this machine, got {cores + 1}"):
        check_processes(cores + 1)


def test_one_process_needs_no_other() -> None:
    with open_peers(1, print) as peers:
        group = peers.group("sum")
    assert group.mean(1.0, 2.0) == [1.0, 2.0]
    assert group.gather("own") == ["own"]
