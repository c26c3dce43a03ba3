"""Processes that train one model together, each on its own batches, by averaging their gradients."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.process import BaseProcess
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from ...storage.errors import ConfigError, FleetError
from .tensor_bytes import from_bytes, to_bytes

_HOST = "127.0.0.1"
#: A dead peer is noticed at once, since its connections close: this is only for one that waits, as while data is read.
_PATIENCE = timedelta(hours=12)
_ENDING_S = 5.0


class Group:
    """What the processes exchange for one stage; stages side by side, in threads, have groups of their own.

    Args:
        rank: this process's number.
        size: how many there are.
        name: the stage's, the same in all of them.
        port: of the store that the first one holds.
    """

    def __init__(self, rank: int, size: int, name: str, port: int) -> None:
        self.rank, self.size = rank, size
        self._num_gathered = 0
        if size > 1:
            # A client of its own, as one that waits for a value holds up all others who use it.
            self._store: Any = dist.PrefixStore(name, _store(port, size))  # type: ignore[attr-defined]
            self._group: Any = dist.ProcessGroupGloo(self._store, rank, size, _PATIENCE)

    def mean(self, *values: float) -> list[float]:
        """The mean of each value over all processes, the same to the bit in all of them."""
        if self.size == 1:
            return list(values)
        both = torch.tensor(values, dtype=torch.float64)
        self._group.allreduce([both]).wait()
        return [float(value) for value in both / self.size]

    def average(self, tensors: Sequence[Tensor]) -> None:
        """Replace tensors, of the same shapes in all processes, by their means; equal to the bit in all of them."""
        if self.size == 1:
            return
        flat = torch.cat([tensor.reshape(-1) for tensor in tensors])
        self._group.allreduce([flat]).wait()
        for tensor, part in zip(tensors, flat.split([tensor.numel() for tensor in tensors]), strict=True):
            tensor.copy_(part.view(tensor.shape) / self.size)

    def gather(self, own: Any) -> list[Any]:
        """In the first process what each has, in the order of their ranks; in the others nothing."""
        if self.size == 1:
            return [own]
        self._num_gathered += 1
        if self.rank > 0:
            self._store.set(f"{self._num_gathered}/{self.rank}", to_bytes(own))
            return []
        return [own, *(self._take(f"{self._num_gathered}/{rank}") for rank in range(1, self.size))]

    def _take(self, key: str) -> Any:
        value = from_bytes(self._store.get(key))
        self._store.delete_key(key)
        return value


@dataclass(frozen=True)
class Peers:
    """The processes of one training, as one of them sees them; the first (rank 0) saves, logs and measures."""

    rank: int = 0
    size: int = 1
    port: int = 0

    def group(self, name: str) -> Group:
        """Connect with the others for the stage of this name; waits for them."""
        return Group(self.rank, self.size, name, self.port)


@contextmanager
def open_peers(size: int, work: Callable[..., None], *args: Any) -> Iterator[Peers]:
    """Be the first of `size` processes; each other one runs `work(peers, *args)` until it returns or this block ends.

    Raises:
        ConfigError: there are more processes than cores.
        FleetError: one of the others ended before its work was done.
    """
    check_processes(size)
    if size == 1:
        yield Peers()
        return
    store = _store(0, size, is_master=True)
    spawn = multiprocessing.get_context("spawn")
    others = [spawn.Process(target=_serve, args=(rank, size, store.port, work, args)) for rank in range(1, size)]
    for other in others:
        other.start()
    try:
        yield Peers(0, size, store.port)
        for other in others:
            other.join()
        _check_ended(others)
    except RuntimeError as error:
        # What gloo says of a lost peer names a line in its own source.
        for other in others:
            other.join(_ENDING_S)
        _check_ended(others, error)
        raise
    finally:
        for other in others:
            other.kill()
            other.join()


def check_processes(size: int) -> None:
    """Refuse more processes than cores: they would wait for each other at every step."""
    cores = os.cpu_count() or 1
    if size > cores:
        raise ConfigError(f"num_processes must be at most the {cores} cores of this machine, got {size}")


def _check_ended(others: Sequence[BaseProcess], cause: Exception | None = None) -> None:
    for rank, other in enumerate(others, 1):
        if other.exitcode:
            raise FleetError(
                f"training process {rank} ended early (exit code {other.exitcode}); see what it printed above, and run "
                "the same command again to go on from the last saved moment"
            ) from cause


def _serve(rank: int, size: int, port: int, work: Callable[..., None], args: tuple[Any, ...]) -> None:
    # Ctrl-C reaches all processes of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    work(Peers(rank, size, port), *args)


def _end_with_parent() -> None:
    """End this process once the first one is gone, whatever killed it."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _store(port: int, size: int, is_master: bool = False) -> Any:
    """The store through which processes find each other, or a client of it; port 0 lets it choose one."""
    return dist.TCPStore(  # type: ignore[attr-defined]
        _HOST, port, size, is_master=is_master, wait_for_workers=False, timeout=_PATIENCE
    )
