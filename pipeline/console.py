"""What a person sees while stages run: bars on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

from ..storage.progress import Progress

#: Seconds between two plain lines of one stage.
PLAIN_INTERVAL_S = 10.0


def say(text: str) -> None:
    """Print one line to stderr; stdout is left to results."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def show_progress(title: str, file: TextIO | None = None) -> Iterator[Progress]:
    """Give a progress that shows how far the work called `title` is, until the block ends.

    What libraries print meanwhile goes to stderr too, so that stdout holds results only.
    """
    file = file or sys.stderr
    with redirect_stdout(sys.stderr):
        if file.isatty():
            with _bar(title, file) as progress:
                yield progress
        else:
            yield plain_progress(title, file)


def plain_progress(title: str, file: TextIO, interval_s: float = PLAIN_INTERVAL_S) -> Progress:
    """A progress that prints a line at most each `interval_s` seconds, for logs."""
    shown = time.monotonic()

    def progress(done: int, total: int, message: str) -> None:
        nonlocal shown
        if time.monotonic() - shown < interval_s:
            return
        shown = time.monotonic()
        count = f"{done}/{total}" if total else f"{done}"
        print(f"{title}: {count} {message}".rstrip(), file=file, flush=True)

    return progress


@contextmanager
def _bar(title: str, file: TextIO) -> Iterator[Progress]:
    from rich import progress as rich_progress
    from rich.console import Console

    columns = (
        rich_progress.TextColumn("{task.description:<14}"),
        rich_progress.BarColumn(bar_width=30),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeElapsedColumn(),
        rich_progress.TextColumn("{task.fields[message]}", style="dim"),
    )
    with rich_progress.Progress(*columns, console=Console(file=file), transient=True) as bars:
        task = bars.add_task(title, total=None, message="")

        def progress(done: int, total: int, message: str) -> None:
            bars.update(task, completed=done, total=total or None, message=message)

        yield progress
