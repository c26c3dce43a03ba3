"""Two pages of one session, a page that never reads, and a server that goes away."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from teleop_browser import Server, drive, free_port, keep_take, open_page, rest, steps_shown, teleop_server, wait_until
from websockets.sync.client import connect

from .looking import notice, picture

pytestmark = pytest.mark.slow


def test_of_two_tabs_one_drives_and_the_other_watches_it(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    wait_until(lambda: other.locator("body[data-role=watcher]").count() == 1, "the second tab to watch", other)
    assert "watching" in notice(other)
    before = picture(other)
    page.bring_to_front()
    drive(page, "KeyS", 1.0)
    assert picture(other) != before
    assert page.locator("body[data-role=driver]").count() == 1
    other.keyboard.press("KeyP")
    rest(0.5, page)
    assert page.locator("body.paused").count() == 0


def test_a_tab_that_watches_drives_once_the_other_is_closed(page: Page) -> None:
    other = page.context.new_page()
    other.goto(page.url)
    wait_until(lambda: other.locator("body[data-role=watcher]").count() == 1, "the second tab to watch", other)
    page.close()
    wait_until(lambda: other.locator("body[data-role=driver]").count() == 1, "it to drive", other)


def test_a_page_that_never_reads_costs_the_take_no_row(page: Page, server: Server) -> None:
    address = page.url.replace("http", "ws").replace("/?", "/drive?")
    with connect(address, origin=server.url):  # type: ignore[arg-type]
        begun = steps_shown(page)
        rest(5, page)
        # 10 a second, on a machine that may be busy.
        assert steps_shown(page) - begun > 25
        keep_take(page, ("KeyS", 1.0))
    length = page.request.get(f"{server.url}/api/takes").json()[-1]["length"]
    assert length >= 6


def test_a_server_that_is_killed_is_said_to_be_gone_and_found_again(
    tmp_path: Path, browser: Browser, open_context: Any
) -> None:
    port = free_port()
    with teleop_server(tmp_path / "takes", port=port) as server:
        page = open_page(open_context(), server.url)
        keep_take(page, ("KeyS", 0.8))
        os.kill(server.process.pid, signal.SIGKILL)
        page.locator("body[data-link=lost]").wait_for()
        assert "trying again in" in notice(page)
    with teleop_server(tmp_path / "takes", port=port):
        page.locator("body[data-link=open]").wait_for()
        wait_until(lambda: steps_shown(page) > 3, "pictures again", page)
        assert page.locator("#takes li").count() == 1


def test_a_person_too_many_is_told_so_and_let_in_once_there_is_room(
    tmp_path: Path, browser: Browser, open_context: Any
) -> None:
    with teleop_server(tmp_path / "takes", "--max-sessions", "1") as server:
        first = open_page(open_context(), server.url)
        second = open_context().new_page()
        second.goto(server.url)
        wait_until(lambda: "trying again in" in notice(second), "the second person to be told", second)
        assert "1" in notice(second)
        first.close()
        # A session waits ten seconds for its page to come back.
        wait_until(lambda: steps_shown(second) > 0, "room for the second person", second)


def test_a_server_that_others_reach_asks_for_its_token_and_takes_it_out_of_the_address(
    tmp_path: Path, browser: Browser, open_context: Any
) -> None:
    with teleop_server(tmp_path / "takes", "--host", "0.0.0.0") as server:
        (token,) = re.findall(r"#token=(\S+)", (tmp_path / "takes.log").read_text())
        page = open_context().new_page()
        page.goto(server.url)
        for given in ("not the token", token):
            page.locator("#login input").fill(given)
            page.locator("#login button").click()
            if given != token:
                page.get_by_text("That is not the token.").wait_for()
        page.locator("body[data-link=open]").wait_for()
        other = open_page(open_context(), f"{server.url}/#token={token}")
        assert token not in other.url
