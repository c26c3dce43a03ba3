import asyncio
from typing import Any

import pytest

from demoloom.storage import ConfigError, StoreError
from demoloom.teleop.web.messages import Command
from demoloom.teleop.web.session import Audience, Session
from demoloom.teleop.web.sessions import Sessions
from demoloom.teleop.web.viewer import Viewer


class Unread:
    """A line whose page reads nothing."""

    async def send_json(self, data: Any) -> None:
        await asyncio.sleep(3600)

    async def send_bytes(self, data: bytes) -> None:
        await asyncio.sleep(3600)


def about() -> dict[str, Any]:
    return {}


def page() -> Viewer:
    return Viewer(Unread())


async def until(condition) -> None:
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come true within five seconds")


def test_a_session_waits_for_its_page_and_then_makes_room(make_session) -> None:
    async def run() -> None:
        sessions = Sessions(lambda audience: make_session(), most=1, grace_s=0.2)
        first = page()
        room = await sessions.enter(first, None, about)
        room.leave(first)
        with pytest.raises(ConfigError, match="1 person is here already"):
            await sessions.enter(page(), None, about)
        await until(lambda: len(sessions) == 0)
        await asyncio.to_thread(room.wait_until_ended)
        again = await sessions.enter(page(), room.id, about)
        assert again.id != room.id
        await sessions.close("the end")

    asyncio.run(run())


def test_a_page_that_comes_back_in_time_keeps_its_session(make_session) -> None:
    async def run() -> None:
        sessions = Sessions(lambda audience: make_session(), most=1, grace_s=0.2)
        first = page()
        room = await sessions.enter(first, None, about)
        room.leave(first)
        assert await sessions.enter(page(), room.id, about) is room
        await asyncio.sleep(0.4)
        assert len(sessions) == 1
        await sessions.close("the end")

    asyncio.run(run())


def test_a_page_that_vanishes_takes_its_own_session_along_and_kept_takes_stay(make_session, takes) -> None:
    async def run() -> None:
        sessions = Sessions(lambda audience: make_session(), most=2, grace_s=0.1)
        gone, stays = page(), page()
        room, other = await sessions.enter(gone, None, about), await sessions.enter(stays, None, about)
        for id, name in enumerate(["record", "step", "keep", "record"]):
            room.hear(gone, Command(id, name), now=0.0)
        await until(lambda: len(takes) == 1)
        room.leave(gone)
        await until(lambda: len(sessions) == 1)
        assert other.session is not None
        assert not other.session.paused
        assert len(takes) == 1
        await sessions.close("the end")

    asyncio.run(run())


def test_a_world_that_cannot_be_made_leaves_no_session(make_session) -> None:
    def fail(audience: Audience) -> Session:
        raise StoreError("no world here")

    async def run() -> None:
        sessions = Sessions(fail, most=1)
        for _ in range(2):
            with pytest.raises(StoreError, match="no world here"):
                await sessions.enter(page(), None, about)
        assert len(sessions) == 0

    asyncio.run(run())
