"""The WebSocket of one page: messages in, frames and states out, until one side goes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ...storage.errors import ConfigError, DemoloomError
from .messages import parse
from .rate_limit import RateLimit
from .room import Room
from .server import Server, about
from .viewer import Viewer

#: WebSocket close codes: try again later, and against the rules.
_TRY_LATER, _AGAINST_RULES = 1013, 1008
#: Messages beyond the rate after which a page is sent away.
_MOST_REFUSED = 2000
#: Characters of the reason that a close may carry: 123 bytes.
_MOST_REASON = 120


async def serve_line(socket: WebSocket, server: Server) -> None:
    """Serve one page, in the session that its address names or in a new one."""
    await socket.accept()
    viewer = Viewer(socket)
    try:
        room = await server.sessions.enter(viewer, socket.query_params.get("session"), lambda: about(server))
    except DemoloomError as error:
        await _send_away(socket, str(error))
        return
    try:
        await _until_one_ends(_hear(socket, viewer, room), viewer.pump())
    finally:
        room.leave(viewer)
        with suppress(RuntimeError, WebSocketDisconnect, OSError):
            if socket.application_state is WebSocketState.CONNECTED:
                await socket.close(_AGAINST_RULES, (viewer.closed_because or "")[:_MOST_REASON])


async def _hear(socket: WebSocket, viewer: Viewer, room: Room) -> None:
    limit = RateLimit(time.monotonic())
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        now = time.monotonic()
        if limit.allows(now):
            _act_on(message.get("text"), viewer, room, now)
        elif limit.num_refused == 1:
            viewer.refuse("more than 200 messages a second; what is beyond is not heard")
        elif limit.num_refused > _MOST_REFUSED:
            viewer.close("far more than 200 messages a second")


def _act_on(text: str | None, viewer: Viewer, room: Room, now: float) -> None:
    """Whatever is wrong with a message, the session goes on."""
    try:
        if text is None:
            raise ConfigError("messages are texts; got a binary one")
        room.hear(viewer, parse(text), now)
    except ConfigError as error:
        viewer.refuse(str(error))


async def _until_one_ends(*works: Coroutine[Any, Any, None]) -> None:
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            with suppress(WebSocketDisconnect, RuntimeError, OSError):
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _send_away(socket: WebSocket, sentence: str) -> None:
    with suppress(RuntimeError, WebSocketDisconnect, OSError):
        await socket.send_json({"type": "done", "id": None, "error": sentence})
        await socket.close(_TRY_LATER, sentence[:_MOST_REASON])
