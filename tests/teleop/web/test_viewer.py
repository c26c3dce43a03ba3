import asyncio
from typing import Any

import pytest

from demoloom.teleop.web.viewer import MOST_UNREAD_FRAMES, Viewer


class Sent:
    """A line that remembers what went over it."""

    def __init__(self) -> None:
        self.texts: list[Any] = []
        self.frames: list[bytes] = []

    async def send_json(self, data: Any) -> None:
        self.texts.append(data)

    async def send_bytes(self, data: bytes) -> None:
        self.frames.append(data)


@pytest.fixture
def line() -> Sent:
    return Sent()


def pumped(line: Sent, *acts) -> Viewer:
    """Does each act on a viewer, and lets it send all it can after each."""

    async def run() -> Viewer:
        viewer = Viewer(line)
        pump = asyncio.create_task(viewer.pump())
        for act in acts:
            act(viewer)
            for _ in range(10):
                await asyncio.sleep(0)
        pump.cancel()
        return viewer

    return asyncio.run(run())


def showing(tick: int):
    return lambda viewer: viewer.show(tick, b"frame %d" % tick)


def test_a_page_that_never_reads_is_sent_two_frames_and_no_more(line: Sent) -> None:
    viewer = pumped(line, *map(showing, range(100)))
    assert line.frames == [b"frame 0", b"frame 1"]
    assert MOST_UNREAD_FRAMES == 2
    assert viewer.num_skipped == 97


def test_a_page_that_has_caught_up_is_shown_the_newest_frame(line: Sent) -> None:
    pumped(line, *map(showing, range(10)), lambda viewer: viewer.acknowledge(1))
    assert line.frames == [b"frame 0", b"frame 1", b"frame 9"]


def test_a_page_that_keeps_up_misses_none(line: Sent) -> None:
    acts = [act for tick in range(20) for act in (showing(tick), lambda viewer, tick=tick: viewer.acknowledge(tick))]
    viewer = pumped(line, *acts)
    assert len(line.frames) == 20
    assert viewer.num_skipped == 0


def test_the_same_command_twice_is_taken_once_and_answered_the_same_again(line: Sent) -> None:
    taken = []
    pumped(
        line,
        lambda viewer: taken.append(viewer.takes(7)),
        lambda viewer: taken.append(viewer.takes(7)),
        lambda viewer: viewer.answer(7, "no take"),
        lambda viewer: taken.append(viewer.takes(7)),
    )
    assert taken == [True, False, False]
    assert line.texts == [{"type": "done", "id": 7, "error": "no take"}] * 2


def test_texts_that_nobody_reads_end_the_line(line: Sent) -> None:
    async def run() -> Viewer:
        viewer = Viewer(line)
        for number in range(501):
            viewer.refuse(str(number))
        await viewer.pump()
        return viewer

    assert asyncio.run(run()).closed_because == "this page does not read what it is sent"


def test_what_is_told_before_the_end_still_arrives(line: Sent) -> None:
    pumped(line, lambda viewer: (viewer.refuse("bye"), viewer.close("the end")), showing(0))
    assert line.texts == [{"type": "done", "id": None, "error": "bye"}]
    assert line.frames == []
