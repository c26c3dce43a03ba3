"""All sessions of a server, and how many there may be."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from ...storage.errors import ConfigError
from .room import GRACE_S, Room
from .session import Audience, Session
from .viewer import Viewer


class Sessions:
    """Lets pages into sessions; all of it in the event loop.

    Args:
        make: makes a session for an audience; called in a thread, as a world takes its time to load.
        most: how many there may be at once.
        grace_s: how long a session waits for its page to come back.
    """

    def __init__(self, make: Callable[[Audience], Session], most: int, grace_s: float = GRACE_S) -> None:
        self.most = most
        self.make, self._grace_s = make, grace_s
        self._rooms: dict[str, Room] = {}

    def __len__(self) -> int:
        return len(self._rooms)

    async def enter(self, viewer: Viewer, id: str | None, about: Callable[[], Mapping[str, Any]]) -> Room:
        """Let a page into the session `id`, or into a new one if there is none of that id.

        Args:
            viewer: the page.
            id: what its address says.
            about: what its welcome says of the server.

        Raises:
            ConfigError: there are as many sessions, or pages in this one, as there may be.
            DemoloomError: the world cannot be loaded.
        """
        room = self._rooms.get(id or "")
        if room is None or room.session is None:
            room = await self._open(viewer, about)
        else:
            room.join(viewer)
        return room

    async def close(self, reason: str) -> None:
        """End all of them, and wait until their worlds stand still."""
        rooms = list(self._rooms.values())
        for room in rooms:
            room.close(reason)
        for room in rooms:
            await asyncio.to_thread(room.wait_until_ended)

    async def _open(self, viewer: Viewer, about: Callable[[], Mapping[str, Any]]) -> Room:
        if len(self) >= self.most:
            people = f"{self.most} {'person is' if self.most == 1 else 'people are'}"
            raise ConfigError(f"{people} here already, and there may be no more; wait until one leaves")
        room = Room(secrets.token_urlsafe(12), about, self._forget, self._grace_s)
        self._rooms[room.id] = room
        try:
            session = await asyncio.to_thread(self.make, room)
        except BaseException:
            del self._rooms[room.id]
            raise
        room.state["sessions"] = len(self)
        room.join(viewer)
        room.begin(session)
        self._tell_number()
        return room

    def _forget(self, room: Room) -> None:
        if self._rooms.pop(room.id, None) is not None:
            self._tell_number()

    def _tell_number(self) -> None:
        for room in self._rooms.values():
            if "step" in room.state:
                room.pass_on({"sessions": len(self)})
