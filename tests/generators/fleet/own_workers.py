"""The processes of this test run's own fleet, told from other fleets on the machine by who started them."""

from __future__ import annotations

import os
import random
import signal
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self


def own_workers() -> list[int]:
    """The ids of the worker processes that descend from this one."""
    found = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in found if _command(pid).startswith("ray::WorkerShell") and _descends(pid, os.getpid())]


class Chaos:
    """While the block runs, kills a worker at random moments, `num_kills` times at most."""

    def __init__(self, num_kills: int, seed: int = 0) -> None:
        self.killed: list[int] = []
        self._num_kills, self._random = num_kills, random.Random(seed)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._rage)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _rage(self) -> None:
        while len(self.killed) < self._num_kills and not self._over.wait(self._random.uniform(0.2, 1.5)):
            if workers := own_workers():
                self.killed.append(self._random.choice(workers))
                with suppress(ProcessLookupError):
                    os.kill(self.killed[-1], signal.SIGKILL)


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def _descends(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            # The name in brackets may hold spaces; state and parent follow it.
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False
