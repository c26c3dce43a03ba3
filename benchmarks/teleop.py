"""What a person feels who drives the bundled world in a browser; writes `benchmarks/results/teleop.json`.

    .venv/bin/python benchmarks/teleop.py

`demoloom teleop` at 15 steps a second and a headless Chromium share the machine. Latency is from a key going down in
the page to the first picture drawn of a world that it moved; jitter is how far the time between two pictures is from
the period. The marks that both are read from are the page's own.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page
from rows import Row, at_most, new_row
from teleop_timing import Timing, frame_rate, key_latencies, percentile, seconds_off, watch

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
from teleop_browser import Server, chromium, keep_take, num_takes, open_page, rest, teleop_server

from demoloom.pipeline.machine import describe_machine
from demoloom.storage.lineage import code_version

RESULT = Path(__file__).parent / "results" / "teleop.json"
FPS = 15
NUM_PEOPLE = 4
KEYS = ("KeyD", "KeyS", "KeyA", "KeyW")


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Args:
        num_presses: keys pressed for the latency.
        together_s: seconds that several people drive at once.
        driving_s: seconds of continuous driving.
        take_s: seconds of each take in it.
        watched_s: seconds at its beginning and its end that are compared.
    """

    num_presses: int = 200
    together_s: float = 30.0
    driving_s: float = 600.0
    take_s: float = 20.0
    watched_s: float = 60.0


QUICK = Extent(num_presses=15, together_s=4.0, driving_s=16.0, take_s=4.0, watched_s=5.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a minute instead of thirteen; writes nothing")
    arguments = parser.parse_args()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for part in measure(QUICK if arguments.quick else Extent(), Path(folder), browser):
            rows += part
            for row in part:
                print(f"{row['name']}: {row['value']} {row['unit']} (aim {row['aim']})", flush=True)
    if not arguments.quick:
        head = {"machine": describe_machine(), "command": "benchmarks/teleop.py", "commit": code_version()}
        RESULT.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


def measure(extent: Extent, folder: Path, browser: Browser) -> Iterator[list[Row]]:
    """The parts of the benchmark, one after the other, each with a server of its own."""
    with serving(folder / "one") as server, one_page(browser, server) as page:
        yield latency_rows(page, extent)
    with serving(folder / "people") as server:
        yield people_rows(browser, server, extent)
    with serving(folder / "long") as server, one_page(browser, server) as page:
        yield driving_rows(page, server, extent)


def serving(out: Path) -> AbstractContextManager[Server]:
    """The server that is measured."""
    return teleop_server(out, "--fps", str(FPS), "--max-sessions", str(NUM_PEOPLE))


@contextmanager
def one_page(browser: Browser, server: Server) -> Iterator[Page]:
    """A page whose times are watched, in a context of its own."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    try:
        page = open_page(context, server.url)
        watch(page)
        yield page
    finally:
        context.close()


def latency_rows(page: Page, extent: Extent) -> list[Row]:
    """From keys to pictures, and how steadily pictures come meanwhile."""
    rest(2, page)
    timing = Timing(page)
    for press in range(extent.num_presses):
        page.keyboard.down(KEYS[press % len(KEYS)])
        # Out of step with the world's clock, as a person is.
        rest(0.11 + 0.013 * (press % 7), page)
        page.keyboard.up(KEYS[press % len(KEYS)])
        rest(0.09 + 0.017 * (press % 5), page)
    seen = timing.since()
    latencies = key_latencies(seen)
    jitter = [1000 * off for off in seconds_off(seen.drawn_ms, 1 / FPS)]
    of = f"{len(latencies)} presses at {FPS} FPS"
    return [
        at_most(new_row(f"key to new picture, p50 of {of}", percentile(latencies, 50), "ms"), 80),
        at_most(new_row(f"key to new picture, p95 of {of}", percentile(latencies, 95), "ms"), 120),
        at_most(new_row("jitter of the time between pictures, p95", percentile(jitter, 95), "ms"), 15),
        new_row("pictures a second, one person", frame_rate(seen.drawn_ms), "FPS", aim=0.95 * FPS),
    ]


def people_rows(browser: Browser, server: Server, extent: Extent) -> list[Row]:
    """Several people at once, each holding keys in a world of their own."""
    contexts = [browser.new_context(viewport={"width": 1280, "height": 720}) for _ in range(NUM_PEOPLE)]
    try:
        pages = [open_page(context, server.url) for context in contexts]
        for number, page in enumerate(pages):
            watch(page)
            page.keyboard.down(KEYS[number % len(KEYS)])
        timings = [Timing(page) for page in pages]
        rest(extent.together_s, pages[0])
        rates = [frame_rate(timing.since().drawn_ms) for timing in timings]
    finally:
        for context in contexts:
            context.close()
    name = f"pictures a second of the slowest of {NUM_PEOPLE} people at once"
    return [new_row(name, min(rates), "FPS", aim=10)]


def driving_rows(page: Page, server: Server, extent: Extent) -> list[Row]:
    """Take after take without a pause: does the pace drift, does memory grow, is every take valid?"""
    timing = Timing(page)
    num_takes_driven = round(extent.driving_s / extent.take_s)
    memory_mb = []
    for _ in range(num_takes_driven):
        keep_take(page, *((key, extent.take_s / len(KEYS)) for key in KEYS))
        memory_mb.append(server_mb(server))
    # The first takes fill caches; what grows after them grows for ever.
    early_mb = memory_mb[min(num_takes_driven - 1, round(extent.watched_s / extent.take_s))]
    faults = server.faults()
    print(faults, end="")
    return [
        *pace_rows(timing.since().drawn_ms, extent),
        at_most(new_row("growth of the server's memory after the first minute", memory_mb[-1] - early_mb, "MB"), 30),
        new_row(f"takes kept of {num_takes_driven} driven", num_takes(page), "takes", aim=num_takes_driven),
        at_most(new_row("datasets of takes with faults", float(bool(faults)), "datasets"), 0),
    ]


def pace_rows(drawn_ms: list[float], extent: Extent) -> list[Row]:
    """The rate at the beginning and at the end."""
    first = [at for at in drawn_ms if at - drawn_ms[0] <= 1000 * extent.watched_s]
    last = [at for at in drawn_ms if drawn_ms[-1] - at <= 1000 * extent.watched_s]
    drift = abs(1000 / frame_rate(last) - 1000 / frame_rate(first))
    name = f"pictures a second over {(drawn_ms[-1] - drawn_ms[0]) / 60_000:.1f} minutes of driving"
    return [
        new_row(name, frame_rate(drawn_ms), "FPS", aim=0.95 * FPS),
        at_most(new_row("drift of the time between pictures, first minute to last", drift, "ms"), 1),
    ]


def server_mb(server: Server) -> float:
    """Memory that the server's process occupies."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    (resident,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return int(resident) / 1024


if __name__ == "__main__":
    main()
