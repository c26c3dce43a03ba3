"""Draws docs/images/teleop*.png by driving the page with the bundled world in a headless Chromium.

python scripts/teleop_screenshots.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page
from teleop_browser import Server, chromium, drive, keep_take, open_page, rest, teleop_server, wait_until

IMAGES = Path(__file__).parents[1] / "docs" / "images"
_MOST_BYTES = 300_000
_DESK = {"width": 1280, "height": 720}
_PHONE = {"width": 390, "height": 780}


def main() -> None:
    """Drive, keep some takes, and draw what is seen."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        teleop_server(Path(folder) / "takes") as server,
    ):
        desk = browser.new_context(viewport=_DESK, color_scheme="light")
        page = open_page(desk, server.url)
        draw_driving(page)
        draw_gallery(page)
        desk.close()
        draw_phone(browser, server)


def draw_driving(page: Page) -> None:
    """A take under way beside reality, after others that were kept."""
    keep_take(page, ("KeyS", 1.5), ("KeyA", 1.0))
    keep_take(page, ("KeyD", 1.2), ("KeyW", 1.2))
    page.keyboard.press("KeyV")
    wait_until(lambda: page.locator("#pictures canvas").count() == 2, "reality", page)
    page.keyboard.press("Space")
    page.locator("body.recording").wait_for()
    lead_around(page)
    draw(page, "teleop.png")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("KeyV")


def lead_around(page: Page) -> None:
    """Drag across the picture, so that something happens."""
    box = page.locator("#pictures canvas").first.bounding_box()
    assert box is not None
    for number, (u, v) in enumerate(((0.3, 0.3), (0.5, 0.35), (0.6, 0.55), (0.45, 0.7))):
        page.mouse.move(box["x"] + u * box["width"], box["y"] + v * box["height"])
        if number == 0:
            page.mouse.down()
        rest(1.0, page)


def draw_gallery(page: Page) -> None:
    """A kept take as it is played."""
    page.mouse.up()
    wait_until(lambda: page.locator("#takes li").count() == 3, "three takes", page)
    page.locator("#takes button").first.click()
    wait_until(lambda: int(page.locator("#player input").input_value()) > 8, "the take to play", page)
    draw(page, "teleop-take.png")
    page.locator("#player [data-does=close]").click()


def draw_phone(browser: Browser, server: Server) -> None:
    """The same page on a phone, in the dark."""
    context = browser.new_context(
        viewport=_PHONE, device_scale_factor=2, is_mobile=True, has_touch=True, color_scheme="dark"
    )
    page = open_page(context, server.url)
    page.locator("[data-does=record]").tap()
    drive(page, "KeyS", 1.5)
    draw(page, "teleop-phone.png")
    context.close()


def draw(page: Page, name: str) -> None:
    """Write what the page shows, small enough for a README."""
    path = IMAGES / name
    page.screenshot(path=path)
    if path.stat().st_size > _MOST_BYTES:
        raise SystemExit(f"{name} has {path.stat().st_size} bytes, more than {_MOST_BYTES}; draw less")
    print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
