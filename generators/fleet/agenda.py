"""Which episodes a worker begins next, told by its driver while it works."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from threading import Lock


class Agenda:
    """The episodes of the call that runs, and after them those of the calls that wait behind it.

    A call that waits is announced, by another thread than the one that works, so that its episodes take the slots which
    become free before the last of the running call has ended. When its own turn comes, those are left out.
    Calls are numbered 1, 2, 3, ...; one that was not announced in time, or not at all, ends the row.
    """

    def __init__(self) -> None:
        self._announced: deque[tuple[int, deque[int]]] = deque()
        self._ahead: set[int] = set()
        self._reached = 0
        self._is_over = False
        self._lock = Lock()

    def announce(self, call: int, indices: Sequence[int]) -> None:
        """Call `call` waits; without effect once it has been reached."""
        with self._lock:
            if call > self._reached:
                self._announced.append((call, deque(indices)))

    def end(self) -> None:
        """Nothing is begun any more."""
        self._is_over = True

    def own(self, call: int, indices: Sequence[int]) -> Iterator[int]:
        """The episodes of a call whose turn it is, without those that were begun before."""
        with self._lock:
            self._reached = max(call, self._reached)
            self._announced = deque(entry for entry in self._announced if entry[0] > call)
            left = [index for index in indices if index not in self._ahead]
            self._ahead.difference_update(indices)
        return (index for index in left if not self._is_over)

    def ahead(self) -> int | None:
        """The next episode of the calls announced; None: there is none."""
        with self._lock:
            while self._announced and not self._is_over:
                call, indices = self._announced[0]
                if call > self._reached + 1:
                    return None
                self._reached = call
                if indices:
                    self._ahead.add(indices[0])
                    return indices.popleft()
                self._announced.popleft()
            return None
