"""A server with the bundled world, and pages of it in a real Chromium."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT / "scripts"))

from playwright.sync_api import Browser, BrowserContext, Page  # noqa: E402
from teleop_browser import CHROMIUM, Server, chromium, open_page, teleop_server  # noqa: E402

OpenContext = Callable[..., BrowserContext]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """For a module only: while it is open its event loop runs in this thread, and tests of others run their own."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium; `apt-get install chromium` brings one")
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Server]:
    """Depends on a browser, so that none is started where the tests are skipped."""
    with teleop_server(tmp_path_factory.mktemp("teleop") / "takes") as started:
        yield started


@pytest.fixture
def open_context(browser: Browser) -> Iterator[OpenContext]:
    """Opens contexts as `Browser.new_context` does; each is closed, and none of their pages may have had a fault."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def open_one(**settings: Any) -> BrowserContext:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, **settings})
        context.on("weberror", lambda fault: faults.append(str(fault.error)))
        # A policy that the page breaks is told on the console only.
        context.on("console", lambda told: faults.append(told.text) if "Content Security Policy" in told.text else None)
        contexts.append(context)
        return context

    yield open_one
    for context in contexts:
        context.close()
    assert not faults


@pytest.fixture
def page(server: Server, open_context: OpenContext) -> Page:
    return open_page(open_context(), server.url)
