"""A server on a free port of this machine, and how browsers and programs of several kinds knock at it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import httpx
import uvicorn
from websockets.sync.client import ClientConnection, connect

from demoloom.teleop.web.opening import TeleopPlan, open_server
from demoloom.teleop.web.rules import Rules
from demoloom.teleop.web.serving import bind, configure

TOKEN = "t" * 43


class Site:
    """A server that runs, and a client of it that sends no Origin unless told to."""

    def __init__(self, port: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.own = {"origin": f"http://{self.host}"}
        self._client = httpx.Client(base_url=f"http://{self.host}")

    @classmethod
    @contextmanager
    def open(cls, plan: TeleopPlan, token: str | None = None) -> Iterator[Self]:
        """Serve until the block ends."""
        listening = bind("127.0.0.1", 0)
        port = listening.getsockname()[1]
        teleop = open_server(plan, Rules(port, token))
        server = uvicorn.Server(configure(teleop))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            site = cls(port)
            with site._client:
                yield site
        finally:
            server.should_exit = True
            thread.join()
            teleop.takes.close()

    def ask(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Any request."""
        return self._client.request(method, path, **more)

    def get(self, path: str, **headers: str) -> httpx.Response:
        """What is at a path."""
        return self.ask("GET", path, headers=headers)

    def drive(self, session: str = "", **headers: str) -> ClientConnection:
        """The line of a page of this server's own, or of whom the headers say."""
        headers = headers or self.own
        address = f"ws://{self.host}/drive?session={session}"
        # The server's own pages keep their cookies.
        cookies = {"cookie": "; ".join(f"{name}={value}" for name, value in self._client.cookies.items())}
        more = {**headers, **(cookies if self._client.cookies else {})}
        return connect(address, additional_headers=more, compression=None, proxy=None)
