"""What a page says and hears on its line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from websockets.sync.connection import Connection

from demoloom.teleop.web.framing import parse_frame


def texts(socket: Connection) -> Iterator[dict[str, Any]]:
    """What the server says; frames are acknowledged and left out."""
    while True:
        message = socket.recv(timeout=20)
        if isinstance(message, str):
            yield json.loads(message)
        else:
            socket.send(json.dumps({"type": "ack", "tick": parse_frame(message)[0]["tick"]}))


def heard(socket: Connection, kind: str, **fields: Any) -> dict[str, Any]:
    """The next text of a kind with these fields."""
    wanted = {"type": kind, **fields}
    return next(text for text in texts(socket) if wanted.items() <= text.items())


def ask(socket: Connection, id: int, name: str, **args: Any) -> str | None:
    """What stood in the way of a command."""
    socket.send(json.dumps({"type": "command", "id": id, "name": name, "args": args}))
    return heard(socket, "done", id=id)["error"]


def next_frame(socket: Connection) -> dict[str, Any]:
    while not isinstance(message := socket.recv(timeout=20), bytes):
        pass
    return parse_frame(message)[0]


def send_and_wait(socket: Connection, *messages: str) -> None:
    """Send all of them, and wait until the line is closed."""
    for message in messages:
        socket.send(message)
    heard(socket, "never")


def keep_a_take(socket: Connection, rows: int = 5, first_id: int = 0) -> None:
    """Record and keep a take of exactly so many steps."""
    commands = ["record", "pause", "undo", *["step"] * rows, "keep"]
    for id, name in enumerate(commands, start=first_id):
        # What was done before the world stood still is undone.
        assert ask(socket, id, name, **({"steps": 999} if name == "undo" else {})) is None
