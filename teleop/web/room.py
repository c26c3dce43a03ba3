"""One session and the pages that look at it; the first of them drives, the others watch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

from ...storage.errors import ConfigError
from .messages import Ack, Command, Input
from .session import Session
from .viewer import Viewer

#: Seconds that a session waits for its page to come back.
GRACE_S = 10.0
#: Pages that may look at one session.
MOST_VIEWERS = 8
#: Seconds that a session may take to end.
_LAST_STEP_S = 10.0


class Room:
    """An `Audience` of pages. All runs in the event loop, but `show`, `tell` and `end`, which any thread may call.

    Args:
        id: of the session, made by the server.
        about: what a welcome says of the server.
        closed: called once, when the session is over.
        grace_s: how long it waits for a page to come back.
    """

    def __init__(
        self, id: str, about: Callable[[], Mapping[str, Any]], closed: Callable[[Room], None], grace_s: float = GRACE_S
    ) -> None:
        self.id = id
        self.session: Session | None = None
        self.state: dict[str, Any] = {}
        self._viewers: list[Viewer] = []
        self._about, self._closed, self._grace_s = about, closed, grace_s
        self._loop = asyncio.get_running_loop()
        self._leaving: asyncio.TimerHandle | None = None
        self._thread: threading.Thread | None = None

    def begin(self, session: Session) -> None:
        """Let the session run, in a thread of its own."""
        self.session = session
        self._thread = threading.Thread(target=session.run, name=f"session {self.id}", daemon=True)
        self._thread.start()

    def wait_until_ended(self) -> None:
        """Wait for the session's last step, or the take that it is storing."""
        if self._thread is not None:
            self._thread.join(_LAST_STEP_S)

    def join(self, viewer: Viewer) -> None:
        """Let a page in and tell it where it is.

        Raises:
            ConfigError: there are too many.
        """
        if len(self._viewers) >= MOST_VIEWERS:
            raise ConfigError(f"{MOST_VIEWERS} pages look at this session already; close one of them")
        self._viewers.append(viewer)
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None
        self._welcome(viewer)

    def leave(self, viewer: Viewer) -> None:
        """A page is gone. If it drove, its hand lets go, the world stands still, and the next page drives.

        The last one leaves the session waiting for a while, with the take in progress.
        """
        drove = self._drives(viewer)
        self._viewers.remove(viewer)
        if drove and self.session is not None:
            self.session.let_go()
        if drove and self._viewers:
            self._welcome(self._viewers[0])
        if not self._viewers:
            self._leaving = self._loop.call_later(self._grace_s, self.close, "nobody is here any more")

    def hear(self, viewer: Viewer, said: Input | Command | Ack, now: float) -> None:
        """Act on a message from a page."""
        if isinstance(said, Ack):
            viewer.acknowledge(said.tick)
        elif isinstance(said, Command):
            self._hear_command(viewer, said)
        elif self._drives(viewer) and self.session is not None:
            self.session.hands.page.hear(said, now)

    def close(self, reason: str) -> None:
        """End the session and let its pages go."""
        if self.session is not None:
            self.session.close()
        for viewer in self._viewers:
            viewer.close(reason)
        self._closed(self)

    def show(self, tick: int, frame: bytes) -> None:
        """See Audience."""
        self._in_loop(self._show, tick, frame)

    def tell(self, state: dict[str, Any]) -> None:
        """See Audience."""
        self._in_loop(self.pass_on, state)

    def end(self, reason: str) -> None:
        """See Audience."""
        self._in_loop(self.close, reason)

    def pass_on(self, state: Mapping[str, Any]) -> None:
        """Tell all pages what changed."""
        self.state |= state
        for viewer in self._viewers:
            viewer.tell({"type": "state", **self.state})
        self.state["message"] = ""

    def _show(self, tick: int, frame: bytes) -> None:
        for viewer in self._viewers:
            viewer.show(tick, frame)

    def _hear_command(self, viewer: Viewer, command: Command) -> None:
        if not self._drives(viewer) or self.session is None:
            viewer.answer(command.id, "this page only watches; use the one that drives, or close it")
        elif viewer.takes(command.id):
            try:
                self.session.ask(command, lambda error: self._in_loop(viewer.answer, command.id, error))
            except ConfigError as error:
                viewer.answer(command.id, str(error))

    def _drives(self, viewer: Viewer) -> bool:
        return bool(self._viewers) and self._viewers[0] is viewer

    def _welcome(self, viewer: Viewer) -> None:
        role = "driver" if self._drives(viewer) else "watcher"
        viewer.tell({"type": "welcome", "session": self.id, "role": role, "about": self._about()})
        if self.session is not None:
            self.session.look_again_soon()

    def _in_loop(self, call: Callable[..., None], *args: Any) -> None:
        # A session may outlive the server by one step.
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, *args)
