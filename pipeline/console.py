"""What a person sees while stages run: bars on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

from ..generators.fleet.watch import FleetStatus, Watch
from .fleet_view import fleet_sentence, worker_lines
from .interval import Interval

#: Seconds between two plain lines of one stage, at first.
PLAIN_INTERVAL_S = 10.0


def say(text: str) -> None:
    """Print one line to stderr; stdout is left to results."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def show_progress(title: str, file: TextIO | None = None) -> Iterator[Watch]:
    """Give a watch that shows how far the work called `title` is, until the block ends.

    What libraries print meanwhile goes to stderr too, so that stdout holds results only.
    """
    file = file or sys.stderr
    with redirect_stdout(sys.stderr):
        if file.isatty():
            with _live(title, file) as view:
                yield view
        else:
            yield PlainLines(title, file)


class PlainLines:
    """A watch for logs: it prints a line each `interval_s` seconds, in a long run less and less often."""

    def __init__(self, title: str, file: TextIO, interval_s: float = PLAIN_INTERVAL_S) -> None:
        self._title, self._file = title, file
        self._interval = Interval(interval_s)
        self._standing = self._fleet = ""

    def __call__(self, done: int, total: int, message: str) -> None:
        """See `storage.progress.Progress`."""
        self._standing = f"{f'{done}/{total}' if total else done} {message}".rstrip()
        self._print()

    def fleet(self, status: FleetStatus) -> None:
        """See Watch."""
        self._standing = self._standing or f"{status.done}/{status.total}"
        self._fleet = fleet_sentence(status)
        self._print()

    def _print(self) -> None:
        if self._interval.is_over():
            line = "; ".join(filter(None, (self._standing, self._fleet)))
            print(f"{self._title}: {line}", file=self._file, flush=True)


class LiveView:
    """A watch for terminals: a bar, and below it how a fleet is getting on.

    Args:
        bars: rich's Progress.
        below: a rich Text, shown under it.
        title: of the bar.
    """

    def __init__(self, bars: Any, below: Any, title: str) -> None:
        self._bars, self._below = bars, below
        self._task = bars.add_task(title, total=None, message="")

    def __call__(self, done: int, total: int, message: str) -> None:
        """See `storage.progress.Progress`."""
        self._bars.update(self._task, completed=done, total=total or None, message=message)

    def fleet(self, status: FleetStatus) -> None:
        """See Watch."""
        # Before its first episode has ended a fleet says nothing else.
        self._bars.update(self._task, completed=status.done, total=status.total or None)
        self._below.plain = "\n".join(f"  {line}" for line in (fleet_sentence(status), *worker_lines(status)))


@contextmanager
def _live(title: str, file: TextIO) -> Iterator[LiveView]:
    from rich import progress
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    bars = progress.Progress(
        progress.TextColumn("{task.description:<14}"),
        progress.BarColumn(bar_width=30),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("{task.fields[message]}", style="dim"),
    )
    below = Text(style="dim")
    with Live(Group(bars, below), console=Console(file=file), transient=True, refresh_per_second=4):
        yield LiveView(bars, below, title)
