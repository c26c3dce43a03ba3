"""A Prefect server and what talks to it, as processes, for tests of schedules and of runs that are killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx


@dataclass(frozen=True)
class PrefectServer:
    """A server that answers at `url`; `environment` makes a process use it."""

    url: str
    environment: dict[str, str]

    @classmethod
    @contextmanager
    def started(cls, home: Path) -> Iterator[PrefectServer]:
        """Start a server and stop it again."""
        port = free_port()
        environment = {
            **os.environ,
            "PREFECT_HOME": str(home),
            "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
            "PREFECT_RUNNER_POLL_FREQUENCY": "1",
            "PREFECT_WORKER_QUERY_SECONDS": "1",
            "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
        }
        command = ["prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"]
        with service(command, environment, home / "server.log") as process:
            server = cls(environment["PREFECT_API_URL"], environment)
            wait_until(lambda: answers(server.url) or process.poll() is not None)
            assert answers(server.url), (home / "server.log").read_text()
            yield server


@contextmanager
def service(
    command: list[str], environment: dict[str, str], log: Path, cwd: Path | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `python -m COMMAND` while the block runs, then stop it by SIGTERM."""
    with log.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", *command], env=environment, stdout=file, stderr=file, cwd=cwd, start_new_session=True
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=60)


def answers(url: str) -> bool:
    """Whether a Prefect server answers there."""
    try:
        return httpx.get(f"{url}/health", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_until(happened: Callable[[], bool], timeout_s: float = 240.0) -> None:
    """Look ten times a second; fails after `timeout_s`."""
    end = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < end, f"nothing happened within {timeout_s:g} s"
        time.sleep(0.1)
