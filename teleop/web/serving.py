"""Running the application: uvicorn on one address, stopped by Ctrl-C or SIGTERM."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from ...storage.errors import ConfigError
from .app import make_app
from .server import Server

#: Bytes of one WebSocket message that uvicorn takes at all; the line itself is open to less (see `messages`).
_MOST_BYTES = 64 << 10
_STOP_S = 3


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens at `host`; port 0 takes any that is free.

    Raises:
        ConfigError: the port is taken, or the address is not one of this machine.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"cannot listen at {host}:{port} ({error}); give another --port or --host") from error


def serve(server: Server, listening: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until stopped.

    Args:
        server: what is served.
        listening: see `bind`.
        ready: called once requests are answered.
    """
    with suppress(KeyboardInterrupt):
        _Announcing(configure(server), ready).run(sockets=[listening])


def configure(server: Server) -> uvicorn.Config:
    """How the application is served."""
    return uvicorn.Config(
        make_app(server),
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        ws_max_size=_MOST_BYTES,
        # JPEG does not get smaller, and what is deflated waits for what comes next.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_STOP_S,
        server_header=False,
        # Behind a proxy its headers would say who asks; nobody here needs to know.
        proxy_headers=False,
    )


class _Announcing(uvicorn.Server):
    """A server that says when it has started."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()
