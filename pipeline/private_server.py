"""A Prefect server that belongs to one process and ends with it, however that process ends.

Prefect's own temporary server outlives a process that is killed, and dies before the flow can report to it where a
signal goes to the whole process group, as Ctrl-C does: the flow then waits for it in vain. This one stands in a
session of its own, and listens at a pipe that the system closes once the process is gone.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import select
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from typing import TYPE_CHECKING

from ..storage.errors import ConfigError

if TYPE_CHECKING:
    import uvicorn

_STOP_S = 10.0  # for the server to write what it was told

# What Prefect gives the server it starts itself: no web pages, and only the services that a flow run needs.
_ENVIRONMENT = {"PREFECT_UI_ENABLED": "0", "PREFECT__SERVER_EPHEMERAL": "1", "PREFECT__SERVER_FINAL": "1"}


@cache
def private_server(timeout_s: float = 120.0) -> str:
    """Start this process's server, once, and return the URL of its API.

    Raises:
        ConfigError: it did not start within `timeout_s`.
    """
    process = _start()
    atexit.register(_stop, process)
    port = _first_line(process, timeout_s)
    if not port:
        # Its output ends a moment before the process does.
        fate = "it took too long" if port is None else f"it ended with code {process.wait(_STOP_S)}"
        process.kill()
        raise ConfigError(
            f"Prefect's private server did not start ({fate}); start the same command again, or run the "
            "stages without Prefect by --no-prefect"
        )
    return f"http://127.0.0.1:{port}/api"


def _first_line(process: subprocess.Popen[str], timeout_s: float) -> str | None:
    """Empty if the process ends without one, None if it takes longer."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], timeout_s)
    return process.stdout.readline().strip() if ready else None


def _start() -> subprocess.Popen[str]:
    from prefect.settings import get_current_settings

    settings = get_current_settings().to_environment_variables(exclude_unset=True)
    return subprocess.Popen(
        [sys.executable, "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **_ENVIRONMENT, **settings},
    )


def _stop(process: subprocess.Popen[str]) -> None:
    """Close the pipe, and wait until the server has written what it was told."""
    try:
        process.communicate(timeout=_STOP_S)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.communicate()


def _serve() -> None:
    """Serve on a free port, say which on stdout, and end once stdin does."""
    import uvicorn

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            "prefect.server.api.server:create_app", factory=True, lifespan="on", log_level="critical"
        )
        server = uvicorn.Server(config)
        threading.Thread(target=_end_with_stdin, args=(server,), daemon=True).start()
        asyncio.run(_serve_and_tell(server, free))


async def _serve_and_tell(server: uvicorn.Server, free: socket.socket) -> None:
    serving = asyncio.create_task(server.serve(sockets=[free]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.02)
    if server.started:
        print(free.getsockname()[1], flush=True)
    await serving


def _end_with_stdin(server: uvicorn.Server) -> None:
    sys.stdin.read()
    server.should_exit = True
    time.sleep(_STOP_S)
    os._exit(1)  # something keeps it from ending, and nobody is left to see to it


if __name__ == "__main__":
    _serve()
