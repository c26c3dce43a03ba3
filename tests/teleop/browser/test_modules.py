"""The page's modules one by one, run by Chromium as the page would run them."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = pytest.mark.slow


def call(page: Page, module: str, script: str) -> Any:
    """What `script` returns, a function body in which `it` is the module."""
    return page.evaluate(f"async () => {{ const it = await import('/page/{module}'); {script} }}")


def test_going_back_drops_the_frames_after_it_and_a_gap_shows_the_one_before(page: Page) -> None:
    steps = "film.frames.map((frame) => frame.step)"
    script = f"""
      const film = it.makeFilm();
      for (const step of [0, 1, 2, 5, 6]) film.add({{ step }});
      const nearest = film.at(4).step;
      film.add({{ step: 2 }});
      return [nearest, {steps}];
    """
    assert call(page, "film.js", script) == [2, [0, 1, 2]]


def test_a_frame_is_a_header_and_one_picture_for_each_view(page: Page) -> None:
    script = """
      const header = new TextEncoder().encode(JSON.stringify({ step: 7, views: [
        { camera: "top", world: "imagined", size: 2 }, { camera: "top", world: "reality", size: 3 }] }));
      const message = new Uint8Array([0, 0, 0, header.length, ...header, 1, 2, 3, 4, 5]);
      const { step, views } = it.parseFrame(message.buffer);
      const read = async ({ picture }) => [...new Uint8Array(await picture.arrayBuffer())];
      const bytes = await Promise.all(views.map(read));
      return [step, views.map(({ world }) => world), bytes];
    """
    assert call(page, "frame.js", script) == [7, ["imagined", "reality"], [[1, 2], [3, 4, 5]]]


def test_trust_below_what_counts_is_warned_of_at_once(page: Page) -> None:
    page.keyboard.press("KeyP")
    page.locator("body.paused").wait_for()
    script = "it.showFrame({ score: 0.5, success: false, trust: 0.1 }, 0.2); return [...document.body.classList];"
    assert "untrusted" in call(page, "meters.js", script)
    assert "untrusted" not in call(page, "meters.js", script.replace("0.1", "0.3"))


def test_names_from_elsewhere_are_text_and_never_elements(page: Page) -> None:
    script = "return it.element('p', {}, '<img src=x onerror=alert(1)>').innerHTML;"
    assert call(page, "elements.js", script) == "&lt;img src=x onerror=alert(1)&gt;"


def test_what_is_held_is_sent_on_change_and_again_while_it_lasts(page: Page) -> None:
    script = """
      const sent = [];
      const input = it.makeInput((message) => sent.push(message), () => {}, () => true);
      input.hold({ keys: ["KeyW"] });
      await new Promise((wake) => setTimeout(wake, 350));
      input.letGo();
      await new Promise((wake) => setTimeout(wake, 50));
      return sent.map(({ keys }) => keys.length);
    """
    sent = call(page, "input.js", script)
    assert sent[0] == 1
    assert 3 <= sum(sent) <= 5
    assert sent[-1] == 0


_TWO_CAMERAS = """
  const cameras = [{ name: "front", width: 32, height: 24 }, { name: "wrist", width: 32, height: 24 }];
  const box = document.querySelector("#stage").appendChild(document.createElement("div"));
  box.id = "pictures";
  const pictures = it.makePictures(box, { cameras });
  const red = new OffscreenCanvas(32, 24);
  Object.assign(red.getContext("2d"), { fillStyle: "red" }).fillRect(0, 0, 32, 24);
  const picture = await red.convertToBlob({ type: "image/jpeg" });
  const frame = { views: cameras.map(({ name }) => ({ camera: name, world: "imagined", picture })) };
"""


def test_each_camera_has_its_picture_whose_pixels_are_whole_and_red_stays_red(page: Page) -> None:
    script = f"""{_TWO_CAMERAS}
      await pictures.show(frame);
      const shown = [...box.querySelectorAll("canvas")];
      const pixel = [...shown[1].getContext("2d").getImageData(16, 12, 1, 1).data];
      const scales = shown.map((canvas) => canvas.getBoundingClientRect().width * devicePixelRatio / canvas.width);
      return [box.innerText.split(/\\s*\\n\\s*/), pixel, scales];
    """
    captions, (red, green, blue, _), scales = call(page, "pictures.js", script)
    assert captions == ["imagined · front", "imagined · wrist"]
    assert (red > 240, green < 15, blue < 15) == (True, True, True)
    assert all(scale == round(scale) >= 2 for scale in scales)


def test_of_frames_that_come_faster_than_they_are_drawn_only_the_newest_is(page: Page) -> None:
    script = f"{_TWO_CAMERAS} return Promise.all([frame, frame, frame].map(pictures.show));"
    assert call(page, "pictures.js", script) == [True, False, True]


def test_a_frame_that_cannot_be_decoded_does_not_keep_the_next_from_being_drawn(page: Page) -> None:
    script = f"""{_TWO_CAMERAS}
      const broken = {{ views: [{{ camera: "front", world: "imagined", picture: new Blob(["no JPEG"]) }}] }};
      return [await pictures.show(broken), await pictures.show(frame)];
    """
    assert call(page, "pictures.js", script) == [False, True]
