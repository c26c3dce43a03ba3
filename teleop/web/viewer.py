"""One open page, from the server's side: what is on its way to it, and no more than it keeps up with."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from typing import Any, Protocol

#: Frames on their way that the page has not acknowledged; a socket would buffer 4 MB of them before it blocks.
MOST_UNREAD_FRAMES = 2
#: Texts that may wait for a page that does not read; they are answers and states of a few hundred bytes.
_MOST_UNREAD_TEXTS = 500
#: Answers that are remembered, so that a command which arrives twice is done once.
_MOST_ANSWERS = 256


class Line(Protocol):
    """What a viewer needs of a WebSocket."""

    async def send_json(self, data: Any) -> None:
        """Send a text."""
        ...

    async def send_bytes(self, data: bytes) -> None:
        """Send a binary message."""
        ...


class Viewer:
    """What is to be sent to one page; all of it in the event loop.

    Of frames that a page is too slow for only the newest is kept, to be shown when it has caught up.
    """

    def __init__(self, line: Line) -> None:
        self.num_skipped = 0
        self.closed_because: str | None = None
        self._line = line
        self._texts: deque[dict[str, Any]] = deque()
        self._newest: tuple[int, bytes] | None = None
        self._unread: deque[int] = deque()
        self._answers: OrderedDict[int, tuple[bool, str | None]] = OrderedDict()
        self._work = asyncio.Event()

    def tell(self, text: dict[str, Any]) -> None:
        """Send a text, after those before it and before any frame."""
        self._texts.append(text)
        if len(self._texts) > _MOST_UNREAD_TEXTS:
            self.close("this page does not read what it is sent")
        self._work.set()

    def show(self, tick: int, frame: bytes) -> None:
        """Send a frame when the page has room for it, unless a newer one comes first."""
        self.num_skipped += self._newest is not None
        self._newest = (tick, frame)
        self._work.set()

    def acknowledge(self, tick: int) -> None:
        """The page has drawn all frames up to this one."""
        while self._unread and self._unread[0] <= tick:
            self._unread.popleft()
        self._work.set()

    def takes(self, id: int) -> bool:
        """Whether this command is new; one that was answered before is answered the same again."""
        if id in self._answers:
            answered, error = self._answers[id]
            if answered:
                self.tell({"type": "done", "id": id, "error": error})
            return False
        self._remember(id, False, None)
        return True

    def answer(self, id: int, error: str | None) -> None:
        """Say that a command was done, or why not."""
        self._remember(id, True, error)
        self.tell({"type": "done", "id": id, "error": error})

    def refuse(self, error: str) -> None:
        """Say what was wrong with a message that was no command."""
        self.tell({"type": "done", "id": None, "error": error})

    def close(self, reason: str) -> None:
        """Send what waits as texts, and then nothing any more."""
        self.closed_because = self.closed_because or reason
        self._work.set()

    async def pump(self) -> None:
        """Send until closed; returns then."""
        while True:
            await self._work.wait()
            self._work.clear()
            while self._texts:
                await self._line.send_json(self._texts.popleft())
            if self.closed_because is not None:
                return
            if self._newest is not None and len(self._unread) < MOST_UNREAD_FRAMES:
                tick, frame = self._newest
                self._newest = None
                self._unread.append(tick)
                await self._line.send_bytes(frame)

    def _remember(self, id: int, answered: bool, error: str | None) -> None:
        self._answers[id] = (answered, error)
        if len(self._answers) > _MOST_ANSWERS:
            self._answers.popitem(last=False)
