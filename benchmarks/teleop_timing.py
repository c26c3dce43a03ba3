"""When a page saw keys go down and drew pictures, and what follows from it."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from playwright.sync_api import Page

# The page gives each picture a mark, and each input a measure that ends with the first picture it is in.
_WATCH = """() => {
  window.seen = { keys: [], pictures: [], inputs: [] };
  addEventListener("keydown", ({ repeat, timeStamp }) => repeat || seen.keys.push(timeStamp), true);
  new PerformanceObserver((list) => {
    for (const { name, startTime, duration } of list.getEntries()) {
      if (name === "picture") seen.pictures.push(startTime);
      if (name === "input to picture") seen.inputs.push([startTime, startTime + duration]);
    }
  }).observe({ entryTypes: ["mark", "measure"] });
}"""


@dataclass(frozen=True)
class Seen:
    """Times in milliseconds of the page's clock, each in order.

    Args:
        keys_ms: when keys went down.
        inputs_ms: when each input was sent, and when the first picture was drawn that it is in.
        drawn_ms: when pictures were drawn.
    """

    keys_ms: list[float]
    inputs_ms: list[tuple[float, float]]
    drawn_ms: list[float]


def watch(page: Page) -> None:
    """Let the page note the times from now on."""
    page.evaluate(_WATCH)


class Timing:
    """What a page that is watched saw from now on."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._begun_ms = float(page.evaluate("() => performance.now()"))

    def since(self) -> Seen:
        """All of it up to now."""
        seen: dict[str, Any] = self._page.evaluate("() => seen")
        begun = self._begun_ms
        return Seen(
            [at for at in seen["keys"] if at >= begun],
            [(sent, drawn) for sent, drawn in seen["inputs"] if sent >= begun],
            [at for at in seen["pictures"] if at >= begun],
        )


def key_latencies(seen: Seen) -> list[float]:
    """Milliseconds from each key to the picture that shows it; a key whose picture was not drawn yet is left out."""
    sent = [start for start, _ in seen.inputs_ms]
    first = [bisect.bisect_left(sent, key) for key in seen.keys_ms]
    return [seen.inputs_ms[at][1] - key for key, at in zip(seen.keys_ms, first, strict=True) if at < len(sent)]


def seconds_off(drawn_ms: Sequence[float], period_s: float) -> list[float]:
    """How far each time between two pictures is from the period, in seconds."""
    return [abs((after - before) / 1000 - period_s) for before, after in itertools.pairwise(drawn_ms)]


def frame_rate(drawn_ms: Sequence[float]) -> float:
    """Pictures a second; 0 for fewer than two."""
    lasted = drawn_ms[-1] - drawn_ms[0] if len(drawn_ms) > 1 else 0.0
    return 1000 * (len(drawn_ms) - 1) / lasted if lasted else 0.0


def percentile(values: Sequence[float], percent: float) -> float:
    """Of values; infinite if there are none, so that no aim is met by measuring nothing."""
    return float(np.percentile(values, percent)) if len(values) else float("inf")
