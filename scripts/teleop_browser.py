"""A teleoperation server and a Chromium that drives its page: for its tests, its screenshots and its benchmark."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# A container has no sandbox to offer and no GPU, and nothing may call home while something is measured.
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass(frozen=True)
class Server:
    """A server that answers at `url` and keeps demonstrations in `out`, other takes beside it."""

    url: str
    out: Path
    process: subprocess.Popen[bytes]

    def faults(self) -> str:
        """What `demoloom validate` finds wrong with the takes; empty if it finds nothing."""
        datasets = [path for path in (self.out, self.out.with_name(f"{self.out.name}-rejected")) if path.exists()]
        checks = [
            subprocess.run([_program(), "validate", str(path)], capture_output=True, text=True) for path in datasets
        ]
        return "".join(check.stdout + check.stderr for check in checks if check.returncode != 0)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def teleop_server(out: Path, *options: str, port: int | None = None) -> Iterator[Server]:
    """`demoloom teleop` with these options, from when it answers until the block ends; its log lies beside `out`."""
    port = port or free_port()
    command = [_program(), "teleop", "--no-browser", "--port", str(port)]
    log = out.with_suffix(".log")
    with log.open("ab") as file:
        process = subprocess.Popen(
            [*command, "--out", str(out), *options],
            stdout=file,
            stderr=file,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_until(lambda: process.poll() is not None or _answers(url), "the server to answer", timeout_s=180)
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}: {log.read_text()}")
        yield Server(url, out, process)
    finally:
        process.terminate()
        process.wait(timeout=60)


def _program() -> str:
    return str(Path(sys.executable).with_name("demoloom"))


def _answers(url: str) -> bool:
    try:
        # Also a server that asks for a token answers.
        return httpx.get(f"{url}/api/about", timeout=5).status_code < 500
    except httpx.HTTPError:
        return False


@contextmanager
def chromium() -> Iterator[Browser]:
    """A Chromium without a window."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def open_page(context: BrowserContext, url: str) -> Page:
    """A page of `context` at `url`, once it shows a first picture."""
    page = context.new_page()
    page.goto(url)
    wait_until(lambda: steps_shown(page) > 0 or is_paused(page), "the first pictures", page)
    return page


def wait_until(happened: Callable[[], bool], what: str, page: Page | None = None, timeout_s: float = 60.0) -> None:
    """Look twenty times a second; TimeoutError after `timeout_s`. A page goes on meanwhile."""
    end = time.monotonic() + timeout_s
    while not happened():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {timeout_s:g} s for {what}")
        rest(0.05, page)


def rest(seconds: float, page: Page | None = None) -> None:
    """Let time pass, and let Playwright hear of what happens on `page`."""
    if page is None:
        time.sleep(seconds)
    else:
        page.wait_for_timeout(1000 * seconds)


def steps_shown(page: Page) -> int:
    """Steps since the start, as the timeline has them."""
    return int(page.locator("#timeline input").get_attribute("max") or 0)


def is_paused(page: Page) -> bool:
    """Whether the world stands still."""
    return page.locator("body.paused").count() > 0


def num_takes(page: Page) -> int:
    """Takes in the gallery."""
    return page.locator("#takes li").count()


def drive(page: Page, code: str, seconds: float) -> None:
    """Hold a key for so long."""
    page.keyboard.down(code)
    rest(seconds, page)
    page.keyboard.up(code)


def keep_take(page: Page, *moves: tuple[str, float]) -> None:
    """Record a take of these keys and seconds, keep it, and wait until the gallery shows it."""
    before = num_takes(page)
    page.keyboard.press("Space")
    page.locator("body.recording").wait_for()
    for code, seconds in moves:
        drive(page, code, seconds)
    page.keyboard.press("ArrowRight")
    wait_until(lambda: num_takes(page) > before, "the take to be kept", page)
