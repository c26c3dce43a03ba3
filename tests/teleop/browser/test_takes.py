from __future__ import annotations

from typing import Any

import httpx
import pytest
from playwright.sync_api import Page
from teleop_browser import Server, drive, keep_take, num_takes, rest, steps_shown, wait_until

from .looking import agent, notice, picture

pytestmark = pytest.mark.slow


def takes_of(server: Server) -> list[dict[str, Any]]:
    return list(httpx.get(f"{server.url}/api/takes").json())


def recorded_s(page: Page) -> float:
    """Seconds that the page says are recorded: `recording 2.8 s`, or `2.8 s recorded: keep it?`."""
    words = page.locator("#recording").inner_text().split()
    return float(words[words.index("s") - 1])


def test_a_take_that_is_kept_is_a_valid_episode_of_what_was_driven(page: Page, server: Server) -> None:
    keep_take(page, ("KeyS", 0.8), ("KeyD", 0.8))
    newest = takes_of(server)[-1]
    assert 10 <= newest["length"] <= 30
    assert newest["seconds"] == pytest.approx(newest["length"] / 10)
    assert server.faults() == ""


def test_discarding_keeps_nothing_and_redoing_begins_again_from_the_same_start(page: Page) -> None:
    before = num_takes(page)
    page.locator("[data-does=record]").click()
    page.locator("body.recording").wait_for()
    drive(page, "KeyW", 0.6)
    page.keyboard.press("ArrowLeft")
    wait_until(lambda: steps_shown(page) <= 3, "the take to begin again", page)
    assert page.locator("body.recording").count() == 1
    page.keyboard.press("Backspace")
    page.locator("body:not(.recording)").wait_for()
    rest(0.5, page)
    assert num_takes(page) == before


def test_undo_goes_back_one_second_and_the_take_goes_on_from_there(page: Page, server: Server) -> None:
    page.keyboard.press("Space")
    page.locator("body.recording").wait_for()
    drive(page, "KeyS", 1.5)
    page.keyboard.press("KeyP")
    page.locator("body.paused").wait_for()
    rest(0.3, page)
    before, begun = recorded_s(page), steps_shown(page)
    page.keyboard.press("KeyZ")
    wait_until(lambda: steps_shown(page) == begun - 10, "ten steps less", page)
    assert recorded_s(page) == pytest.approx(before - 1.0)
    page.keyboard.press("KeyP")
    drive(page, "KeyD", 1.0)
    kept = num_takes(page)
    page.keyboard.press("ArrowRight")
    wait_until(lambda: num_takes(page) > kept, "the take", page)
    assert takes_of(server)[-1]["length"] >= 10


def test_the_timeline_shows_an_earlier_moment_and_goes_on_from_it(page: Page) -> None:
    drive(page, "KeyD" if agent(page)[0] < 32 else "KeyA", 2.0)
    steps = page.locator("#timeline input")
    steps.evaluate("(range) => { range.value = 5; range.dispatchEvent(new Event('input')); }")
    page.locator("body.paused").wait_for()
    rest(0.3, page)
    earlier = picture(page)
    assert steps_shown(page) > 15
    page.locator("#go-on").click()
    wait_until(lambda: steps_shown(page) < 15, "the world to be back", page)
    page.locator("body:not(.paused)").wait_for()
    assert earlier != picture(page, "#timeline canvas")


def test_looking_back_changes_nothing_when_one_returns_to_now(page: Page) -> None:
    rest(1, page)
    page.keyboard.press("KeyP")
    page.locator("body.paused").wait_for()
    rest(0.3, page)
    now, there = steps_shown(page), picture(page)
    page.locator("#timeline input").evaluate("(range) => { range.value = 1; range.dispatchEvent(new Event('input')); }")
    page.locator("#back-to-now").click()
    wait_until(lambda: picture(page) == there, "the picture of now", page)
    assert steps_shown(page) == now


def test_a_kept_take_is_played_and_deleted(page: Page, server: Server) -> None:
    keep_take(page, ("KeyA", 0.5), ("KeyW", 0.7))
    before = takes_of(server)
    page.locator("#takes button").first.click()
    moment = page.locator("#player input")
    wait_until(lambda: int(moment.input_value()) > 3, "the take to play", page)
    first = picture(page, "#player canvas")
    wait_until(lambda: picture(page, "#player canvas") != first, "another frame", page)
    page.locator("[data-does=delete]").click()
    assert takes_of(server) == before
    page.locator("[data-does=delete]").click()
    wait_until(lambda: num_takes(page) == len(before) - 1, "the take to go", page)
    assert [take["id"] for take in takes_of(server)] == [take["id"] for take in before[:-1]]


def test_reality_is_shown_beside_the_world_and_hidden_again(page: Page) -> None:
    page.keyboard.press("KeyV")
    wait_until(lambda: page.locator("#pictures canvas").count() == 2, "reality", page)
    assert page.locator("figcaption").all_inner_texts() == ["imagined · top", "reality · top"]
    page.keyboard.press("KeyV")
    wait_until(lambda: page.locator("#pictures canvas").count() == 1, "reality to go", page)


def test_what_cannot_be_done_is_said_in_a_sentence(page: Page) -> None:
    page.keyboard.press("Space")
    page.locator("body.recording").wait_for()
    page.locator(".thumbnails button").first.click()
    wait_until(lambda: "take is under way" in notice(page), "the sentence", page)


def test_recording_while_one_looks_back_returns_to_now(page: Page) -> None:
    rest(1, page)
    page.locator("#timeline input").evaluate("(range) => { range.value = 2; range.dispatchEvent(new Event('input')); }")
    page.locator("body.looking-back.paused").wait_for()
    page.keyboard.press("Space")
    page.locator("body.recording:not(.looking-back):not(.paused)").wait_for()
    assert not page.locator("#go-on").is_visible()
