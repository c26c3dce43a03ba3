"""Recording an episode row by row, whatever the format; nothing of it is in the store before it is committed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np

from .columns import columns_of, frames_of
from .dataset import EpisodeReader
from .episode import Episode, EpisodeSummary, Outcome, Rows, summarise
from .errors import StoreError
from .spec import EpisodeSpec
from .validation import validate_ending, validate_episode, validate_identity, validate_rows

#: How much of an episode is handed on at once.
_BLOCK_BYTES = 8 << 20


class Take(Protocol):
    """Where one store puts the rows of an episode that is under way."""

    def write(self, rows: Rows) -> None:
        """Keep a copy of the rows."""
        ...

    def publish(self, summary: EpisodeSummary, digest: str) -> bool:
        """Make the episode part of the store at once; false if the same one is there already."""
        ...

    def close(self) -> None:
        """Delete what was not published."""
        ...


class EpisodeRecorder:
    """One episode under way: `write` rows as they come, then `commit` or `discard`.

    As a context manager it discards an episode that was not committed. Rows are copied, so that the caller may use
    its buffers again; where a disk or an encoder is slower than the caller, `write` waits.
    """

    def __init__(self, id: str, index: int, seed: int, task: str, spec: EpisodeSpec, begin: Callable[[], Take]) -> None:
        validate_identity(id, index, seed, task)
        self._head: dict[str, Any] = {"id": id, "index": index, "seed": seed, "task": task}
        self._spec = spec
        self._digest = ContentDigest()
        self._summary = _RunningSummary()
        self._take: Take | None = begin()

    def write(self, rows: Rows) -> None:
        """Add rows to the end of the episode.

        Raises:
            InvalidEpisode: they break the spec; the episode is as it was before.
            StoreError: the disk is full, and the episode is discarded, or it was committed or discarded before.
        """
        take = self._under_way()
        validate_rows(self._head["id"], rows, self._spec, start=len(self))
        try:
            take.write(rows)
        except BaseException:
            self.discard()
            raise
        self._digest.update(rows)
        self._summary.update(rows)

    def __len__(self) -> int:
        return self._summary.length

    def commit(self, outcome: Outcome, reason: str = "", lineage: Mapping[str, Any] | None = None) -> bool:
        """Make the episode part of the store; true if it is new, false if the same one is there already.

        Raises:
            InvalidEpisode: it has no rows, or the outcome and the reason do not fit.
            StoreError: an episode of this id with other content is there, or the disk is full.
        """
        take, lineage = self._under_way(), lineage or {}
        validate_ending(self._head["id"], len(self), outcome, reason, lineage)
        summary = self._summary.finish(**self._head, outcome=outcome, reason=reason, lineage=lineage)
        try:
            return take.publish(summary, self._digest.finish(summary))
        finally:
            self.discard()

    def discard(self) -> None:
        """Forget the episode, as if it had never begun; after `commit` this does nothing."""
        if self._take is not None:
            self._take.close()
            self._take = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()

    def _under_way(self) -> Take:
        if self._take is None:
            raise StoreError(f"episode {self._head['id']!r} was committed or discarded before; record a new one")
        return self._take


class EpisodeStore(EpisodeReader, Protocol):
    """An EpisodeReader that episodes are added to, by any number of processes."""

    def append(self, episode: Episode) -> bool:
        """Store a whole episode; false if the same one is there already."""
        ...

    def record(self, id: str, *, index: int, seed: int, task: str) -> EpisodeRecorder:
        """Begin an episode that comes row by row."""
        ...

    def digest(self, id: str) -> str | None:
        """The digest of a stored episode; None if it is not there."""
        ...


def append(store: EpisodeStore, episode: Episode) -> bool:
    """Store a whole episode or nothing; true if it is new, false if the same one is there already.

    Raises:
        InvalidEpisode: it breaks the spec.
        StoreError: an episode of this id with other content is there, or the disk is full.
    """
    validate_episode(episode, store.spec)
    if (there := store.digest(episode.id)) is not None:
        refuse_other(there, digest_of(episode), episode.id)
        return False
    with store.record(episode.id, index=episode.index, seed=episode.seed, task=episode.task) as recorder:
        for rows in blocks_of(episode):
            recorder.write(rows)
        return recorder.commit(episode.outcome, episode.reason, episode.lineage)


def refuse_other(there: str, new: str, id: str) -> None:
    """Raise StoreError if the digest of the stored episode is not that of the one to be added."""
    if there != new:
        raise StoreError(
            f"episode {id!r} is in the dataset with other content than the one to be added; "
            "discard it first, or give the new one another id"
        )


def blocks_of(rows: Rows) -> Iterator[Rows]:
    """The rows in blocks of a few megabytes."""
    count = block_length(sum(array[:1].nbytes for array in {**frames_of(rows), **columns_of(rows)}.values()))
    return (rows.rows(start, min(start + count, len(rows))) for start in range(0, len(rows), count))


def block_length(row_bytes: int) -> int:
    """How many rows of that size make a block."""
    return max(1, _BLOCK_BYTES // max(1, row_bytes))


def digest_of(episode: Episode) -> str:
    """SHA-256 (64 hex digits) over all of an episode but its lineage.

    Without the lineage, because the same episode made again by a resumed run may come from a later commit.
    """
    digest = ContentDigest()
    digest.update(episode)
    return digest.finish(summarise(episode))


class ContentDigest:
    """One hash for each column, so that it does not matter in which order and blocks columns and rows come."""

    def __init__(self) -> None:
        self._columns: dict[str, Any] = {}

    def update(self, rows: Rows) -> None:
        """Add rows to the end of all columns."""
        for name, array in {**frames_of(rows), **columns_of(rows)}.items():
            self.add(name, array)

    def add(self, name: str, array: np.ndarray) -> None:
        """Add rows to the end of one column, under its name and in its shape and dtype in an episode."""
        if name not in self._columns:
            self._columns[name] = hashlib.sha256(f"{name} {array.shape[1:]} {array.dtype.str}".encode())
        self._columns[name].update(np.ascontiguousarray(array).data)

    def replaced(self, part: ContentDigest) -> ContentDigest:
        """The same with the columns of `part` in the place of its own."""
        digest = ContentDigest()
        digest._columns = self._columns | part._columns
        return digest

    def columns(self) -> dict[str, str]:
        """SHA-256 (64 hex digits) of each column."""
        return {name: digest.hexdigest() for name, digest in self._columns.items()}

    def finish(self, summary: EpisodeSummary) -> str:
        """SHA-256 (64 hex digits) of the episode that the columns and this summary make."""
        head = {**summary.to_dict(), "lineage": None}
        return hashlib.sha256(json.dumps([head, self.columns()], sort_keys=True).encode()).hexdigest()


class _RunningSummary:
    """What `EpisodeSummary` says of the rows, kept up while they come."""

    def __init__(self) -> None:
        self.length = 0
        self._score_max, self._score_last, self._trust_min, self._success = 0.0, 0.0, 1.0, False

    def update(self, rows: Rows) -> None:
        if len(rows) == 0:
            return
        self.length += len(rows)
        self._score_max = max(self._score_max, float(rows.score.max()))
        self._score_last = float(rows.score[-1])
        self._trust_min = min(self._trust_min, float(rows.trust.min()))
        self._success = self._success or bool(rows.success.any())

    def finish(self, **known: Any) -> EpisodeSummary:
        return EpisodeSummary(
            **known,
            length=self.length,
            score_max=self._score_max,
            score_last=self._score_last,
            success=self._success,
            trust_min=self._trust_min,
        )
