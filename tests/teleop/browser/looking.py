"""What a test sees of the page."""

from __future__ import annotations

import json
from typing import Any

from playwright.sync_api import Page, WebSocket

_BLUE = """() => {
  const canvas = document.querySelector("#pictures canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const blue = [...Array(data.length / 4).keys()].filter(
    (pixel) => data[4 * pixel + 2] > data[4 * pixel] + 60 && data[4 * pixel + 2] > data[4 * pixel + 1] + 40);
  const mean = (of) => blue.reduce((sum, pixel) => sum + of(pixel), 0) / blue.length;
  return [mean((pixel) => pixel % canvas.width), mean((pixel) => Math.floor(pixel / canvas.width))];
}"""


def agent(page: Page) -> tuple[float, float]:
    """Where the blue agent of PushT is in the live picture, in pixels of its frame: x to the right, y down."""
    x, y = page.evaluate(_BLUE)
    return x, y


def picture(page: Page, of: str = "#pictures canvas") -> str:
    """The live picture, as text that changes with any pixel."""
    return str(page.locator(of).first.evaluate("(canvas) => canvas.toDataURL()"))


def notice(page: Page) -> str:
    """The line of text above the picture."""
    return page.locator("#notice").inner_text()


class Sent:
    """The messages that a page sends from now on; it must be made before the page opens its line."""

    def __init__(self, page: Page) -> None:
        self.messages: list[dict[str, Any]] = []
        page.on("websocket", self._listen)

    def inputs(self) -> list[dict[str, Any]]:
        """Those that say what is held."""
        return [message for message in self.messages if message["type"] == "input"]

    def _listen(self, line: WebSocket) -> None:
        line.on("framesent", lambda sent: self.messages.append(json.loads(sent)))
