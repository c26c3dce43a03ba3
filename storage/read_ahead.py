"""Reading the next while the last is being written."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class _End:
    """What follows the last item: the error that ended the items, if one did."""

    error: BaseException | None = None


def read_ahead[T](items: Iterable[T], count: int = 2) -> Generator[T]:
    """The items in their order, made in a thread of its own, which is `count` ahead at most.

    An error in making them is raised where the item would have come. Once the caller closes it, nothing more is made.
    """
    waiting: queue.Queue[T | _End] = queue.Queue(count)
    stopped = threading.Event()
    thread = threading.Thread(target=_make, args=(items, waiting, stopped), daemon=True)
    thread.start()
    try:
        while not isinstance(item := waiting.get(), _End):
            yield item
        if item.error is not None:
            raise item.error
    finally:
        stopped.set()
        with suppress(queue.Empty):
            while True:
                waiting.get_nowait()
        thread.join()


def _make[T](items: Iterable[T], waiting: queue.Queue[T | _End], stopped: threading.Event) -> None:
    end = _End()
    try:
        for item in items:
            waiting.put(item)
            if stopped.is_set():
                break
    except BaseException as error:  # raised again in the caller's thread
        end = _End(error)
    if not stopped.is_set():
        waiting.put(end)
