"""Storing episodes beside the steps of a world, so that compressing one does not hold up the next step."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from ...storage.episode import Episode, EpisodeSummary, summarise
from ...storage.errors import InvalidEpisode
from ...storage.recorder import EpisodeStore

#: Episodes that have ended and are not stored yet.
MOST_WAITING = 2


class EpisodeWriter:
    """Appends episodes to a store in a thread; compression and checksums leave the interpreter to the world meanwhile.

    `put` waits while two episodes have not been stored yet, so that memory does not grow and nothing is dropped.
    Leaving the block waits for all.

    Args:
        store: where to.
        done: gets the summary of each episode once it stands in the store.
        refused: told of an episode that breaks the store's spec.
    """

    def __init__(
        self,
        store: EpisodeStore,
        done: Callable[[EpisodeSummary], None],
        refused: Callable[[Episode, InvalidEpisode], None],
    ) -> None:
        self._store, self._done, self._refused = store, done, refused
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="episode-writer")
        self._waiting: deque[tuple[Episode, Future[bool]]] = deque()

    def put(self, episode: Episode) -> None:
        """Store it soon.

        Raises:
            StoreError: an episode before it could not be stored, as on a full disk.
        """
        while len(self._waiting) >= MOST_WAITING:
            self._settle_oldest()
        self._waiting.append((episode, self._thread.submit(self._store.append, episode)))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            while self._waiting:
                self._settle_oldest()
        finally:
            self._thread.shutdown()

    def _settle_oldest(self) -> None:
        episode, stored = self._waiting.popleft()
        try:
            stored.result()
        except InvalidEpisode as error:
            self._refused(episode, error)
        else:
            self._done(summarise(episode))
