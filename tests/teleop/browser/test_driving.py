from __future__ import annotations

import math
from typing import Any

import pytest
from playwright.sync_api import Page
from teleop_browser import Server, drive, open_page, rest, steps_shown, wait_until

from .looking import Sent, agent, notice, picture

pytestmark = pytest.mark.slow

# A key that is held leads 30 pixels a second; the robot settles and a picture of 64 pixels trembles by less than this.
_STILL_PX = 3.0
# A gamepad of the standard layout, as a browser shows it; its left stick is at `window.stick`.
_GAMEPAD = """
  window.stick = [0, 0];
  const idle = Array.from({ length: 17 }, () => ({ pressed: false, value: 0 }));
  navigator.getGamepads = () => [
    { connected: true, mapping: "standard", axes: [...window.stick, 0, 0], buttons: idle }];
"""


def test_a_key_moves_the_agent_its_way_and_no_other(page: Page) -> None:
    # A start at the upper left, with nothing to the right of the agent that could hide it.
    page.locator("#starts img").nth(4).click()
    wait_until(lambda: math.dist(agent(page), (21, 18)) < 3, "the start", page)
    before = agent(page)
    drive(page, "KeyD", 1.5)
    after = agent(page)
    assert after[0] - before[0] > 4
    assert abs(after[1] - before[1]) < (after[0] - before[0]) / 2


def test_pictures_come_at_the_rate_of_the_world(page: Page) -> None:
    before = steps_shown(page)
    rest(3, page)
    # 10 a second; a machine that is busy with other things may take twice as long.
    assert 15 <= steps_shown(page) - before <= 33
    assert page.locator("#latency").inner_text().endswith("ms")


def test_dragging_leads_the_agent_to_the_pointer(page: Page) -> None:
    box = page.locator("#pictures canvas").first.bounding_box()
    assert box is not None
    goal = (16, 16) if agent(page)[0] > 32 else (48, 16)
    page.mouse.move(box["x"] + box["width"] * goal[0] / 64, box["y"] + box["height"] * goal[1] / 64)
    page.mouse.down()
    wait_until(lambda: abs(agent(page)[0] - goal[0]) < 6 and abs(agent(page)[1] - goal[1]) < 6, "the agent", page)
    page.mouse.up()


def test_the_pad_of_a_phone_pushes_like_a_stick_and_springs_back(server: Server, open_context: Any) -> None:
    phone = open_context(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True).new_page()
    sent = Sent(phone)
    phone.goto(server.url)
    wait_until(lambda: steps_shown(phone) > 0, "a first picture", phone)
    box = phone.locator("#pad").bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    phone.mouse.move(*middle)
    phone.mouse.down()
    phone.mouse.move(middle[0] + box["width"] / 4, middle[1])
    wait_until(
        lambda: sent.inputs()[-1]["axes"] is not None and sent.inputs()[-1]["axes"]["x"] > 0.4, "the push", phone
    )
    phone.mouse.up()
    wait_until(lambda: sent.inputs()[-1]["axes"] is None, "the pad to spring back", phone)


def test_a_phone_shows_everything_within_its_width(server: Server, open_context: Any) -> None:
    phone = open_page(open_context(viewport={"width": 390, "height": 780}, is_mobile=True), server.url)
    assert phone.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    assert phone.locator("#pictures canvas").first.bounding_box()["width"] > 300  # type: ignore[index]


def test_a_gamepad_moves_the_agent_and_stops_when_it_is_let_go(server: Server, open_context: Any) -> None:
    context = open_context()
    context.add_init_script(_GAMEPAD)
    page = open_page(context, server.url)
    page.evaluate("() => dispatchEvent(new Event('gamepadconnected'))")
    before = agent(page)
    page.evaluate("(x) => { window.stick = [x, 0]; }", 1 if before[0] < 32 else -1)
    wait_until(lambda: abs(agent(page)[0] - before[0]) > 4, "the agent to move", page)
    page.evaluate("() => { window.stick = [0, 0]; }")
    rest(1, page)
    there = agent(page)
    rest(1, page)
    assert agent(page) == pytest.approx(there, abs=_STILL_PX)


@pytest.mark.parametrize("event", ["blur", "pagehide", "contextmenu"])
def test_a_key_held_while_the_tab_loses_focus_stops_the_motion(server: Server, open_context: Any, event: str) -> None:
    page = open_context().new_page()
    sent = Sent(page)
    page.goto(server.url)
    wait_until(lambda: steps_shown(page) > 0, "a first picture", page)
    page.keyboard.down("KeyD" if agent(page)[0] < 32 else "KeyA")
    wait_until(lambda: sent.inputs()[-1]["keys"] != [], "the key", page)
    page.evaluate("(name) => dispatchEvent(new Event(name))", event)
    wait_until(lambda: sent.inputs()[-1]["keys"] == [], "the page to let go", page)
    rest(1, page)
    there = agent(page)
    rest(1, page)
    assert agent(page) == pytest.approx(there, abs=_STILL_PX)


def test_a_tab_in_the_background_lets_go_and_its_world_stands_still(server: Server, open_context: Any) -> None:
    context = open_context()
    page = open_page(context, server.url)
    # Playwright shows every page as focused unless told otherwise.
    context.new_cdp_session(page).send("Emulation.setFocusEmulationEnabled", {"enabled": False})
    page.keyboard.down("KeyD" if agent(page)[0] < 32 else "KeyA")
    rest(0.3, page)
    context.new_page().bring_to_front()
    wait_until(lambda: page.evaluate("() => document.hidden || !document.hasFocus()"), "the focus to go", page)
    rest(1, page)
    there = agent(page)
    rest(1, page)
    assert agent(page) == pytest.approx(there, abs=_STILL_PX)


def test_pausing_holds_the_world_and_stepping_moves_it_by_one(page: Page) -> None:
    page.keyboard.press("KeyP")
    page.locator("body.paused").wait_for()
    rest(0.5, page)
    before = steps_shown(page)
    assert notice(page).startswith("The world stands still")
    page.keyboard.press("Period")
    wait_until(lambda: steps_shown(page) == before + 1, "one step", page)
    rest(0.5, page)
    assert steps_shown(page) == before + 1


def test_the_overlay_lists_every_key_of_the_page(page: Page) -> None:
    page.keyboard.press("?")
    said = page.locator("#help").inner_text()
    for key in ("W", "S", "A", "D", "Space", "→ or N", "← or R", "⌫", "Z", "P", ".", "V", "Esc or Q"):
        assert key in said.split("\n")
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


def test_a_start_that_is_chosen_is_what_is_shown(page: Page) -> None:
    page.keyboard.press("KeyP")
    page.locator("body.paused").wait_for()
    shown = set()
    for index in (1, 2):
        before = picture(page)
        page.locator(".thumbnails button").nth(index).click()
        wait_until(lambda before=before: picture(page) != before, "another picture", page)  # type: ignore[misc]
        shown.add(picture(page))
    assert len(shown) == 2
