"""The takes that people kept: demonstrations in one dataset, all others apart, both written at once."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from ...storage.atomic import is_occupied, make_folder
from ...storage.drafts import copy_of, record_draft
from ...storage.episode import Episode, EpisodeSummary, Rows
from ...storage.errors import StoreError
from ...storage.lerobot_store import LeRobotStore
from ...storage.spec import EpisodeSpec

#: Suffixes of the folders in which a dataset is made again without a take, and of the one it replaces.
_ANEW, _REPLACED = ".without-a-take", ".before-a-take-was-deleted"


class KeptTakes:
    """Two LeRobot datasets that several threads add to: a take is in one of them, wholly, once `add` returns.

    Demonstrations are what policies are trained on, so that takes that failed or are not trusted stand beside them.
    A dataset is made with its first take.

    Args:
        path: of the demonstrations; a dataset that stands there is added to.
        spec: of all takes.
        others: of all other takes; PATH-rejected by default.

    Raises:
        StoreError: something else stands at one of the paths, or the folder cannot be written.
        SpecMismatch: a dataset there is of another robot.
    """

    def __init__(self, path: Path, spec: EpisodeSpec, others: Path | None = None) -> None:
        self.spec = spec
        self.demonstrations = path
        self.others = others or path.with_name(f"{path.name}-rejected")
        self._lock = threading.RLock()
        self._stores: dict[Path, LeRobotStore] = {}
        for folder in self._folders():
            make_folder(folder.parent)
            _finish_replacing(folder)
            if is_occupied(folder):
                self._stores[folder] = LeRobotStore.create(folder, spec, exist_ok=True)
        self._count = sum(map(len, self._stores.values()))

    def add(self, make: Callable[[int], Episode]) -> Episode:
        """Store a take; it survives whatever ends this process from when this returns.

        Args:
            make: gives the take, told its number.

        Raises:
            InvalidEpisode: it breaks the spec.
            StoreError: the disk is full.
        """
        with self._lock:
            episode = make(self._next_index())
            self._store_for(self.demonstrations if episode.is_demonstration else self.others).append(episode)
            self._count += 1
            return episode

    def __len__(self) -> int:
        # Without the lock: whoever asks does not wait until somebody else's take is written.
        return self._count

    def summaries(self) -> list[EpisodeSummary]:
        """All takes in the order in which they were kept."""
        with self._lock:
            found = [summary for store in self._stores.values() if len(store) for summary in store.summaries()]
        return sorted(found, key=lambda summary: (summary.index, summary.id))

    def summary(self, id: str) -> EpisodeSummary:
        """What is known of one take; StoreError if it is not here."""
        with self._lock:
            return self._holder(id).summary(id)

    def rows(self, id: str, start: int, stop: int) -> Rows:
        """Rows start .. stop - 1 of one take; StoreError if they are not here."""
        with self._lock:
            return self._holder(id).rows(id, start, stop)

    def delete(self, id: str) -> None:
        """Take one out; its dataset is made anew without it, and takes the place of the old when it is whole.

        Raises:
            StoreError: it is not here, or the disk is full; then all stays as it was.
        """
        with self._lock:
            store = self._holder(id)
            anew = store.path.with_name(store.path.name + _ANEW)
            shutil.rmtree(anew, ignore_errors=True)
            with LeRobotStore.create(anew, self.spec, codec=store.codec) as copy:
                for other in store.ids():
                    if other != id:
                        record_draft(copy, copy_of(store, other))
            _replace(store.path, anew)
            self._stores[store.path] = LeRobotStore.open(store.path)
            self._count -= 1

    def close(self) -> None:
        """Make the statistics of the datasets exact, and leave no dataset without a take."""
        with self._lock:
            for folder, store in self._stores.items():
                if len(store):
                    store.close()
                else:
                    shutil.rmtree(folder)
            self._stores.clear()

    def _next_index(self) -> int:
        return max((summary.index for summary in self.summaries()), default=-1) + 1

    def _folders(self) -> Iterator[Path]:
        yield from (self.demonstrations, self.others)

    def _store_for(self, folder: Path) -> LeRobotStore:
        if folder not in self._stores:
            self._stores[folder] = LeRobotStore.create(folder, self.spec, exist_ok=True)
        return self._stores[folder]

    def _holder(self, id: str) -> LeRobotStore:
        for store in self._stores.values():
            if id in store:
                return store
        raise StoreError(f"there is no take {id!r} in {self.demonstrations} or {self.others}; it may have been deleted")


def _replace(folder: Path, anew: Path) -> None:
    """Put `anew` in the place of `folder`; whoever ends this in between, `_finish_replacing` finds what to do."""
    replaced = folder.with_name(folder.name + _REPLACED)
    os.rename(folder, replaced)
    os.rename(anew, folder)
    shutil.rmtree(replaced)


def _finish_replacing(folder: Path) -> None:
    replaced, anew = (folder.with_name(folder.name + suffix) for suffix in (_REPLACED, _ANEW))
    if replaced.is_dir() and not folder.exists():
        os.rename(replaced, folder)
    for left in (replaced, anew):
        shutil.rmtree(left, ignore_errors=True)
