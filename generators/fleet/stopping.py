"""Stopping in two steps: the first Ctrl-C or SIGTERM asks, the second insists."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class StopRequest:
    """Whether someone asked for an end."""

    requested: bool = False


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """While the block runs, note the first SIGINT or SIGTERM and raise KeyboardInterrupt at the next.

    Outside the main thread, which alone gets signals, nothing is noted.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return

    def note(number: int, frame: Any) -> None:
        # Ray sets an alarm at SIGTERM that aborts the process three seconds later (ray issue 64830).
        signal.alarm(0)
        if request.requested:
            raise KeyboardInterrupt
        request.requested = True

    previous = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
