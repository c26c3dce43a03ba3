"""The rows of a dataset as one long table, to be read in any order: numbers in memory, frames there or on disk."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from .columns import columns_of, frames_of, image_key
from .dataset import EpisodeReader
from .episode import Episode, EpisodeSummary
from .errors import StoreError
from .frame_access import FrameAccess, open_frames
from .spec import EpisodeSpec
from .timeline import Timeline


class Column(Protocol):
    """What can be indexed like a numpy array and gives one; frames on disk are read only then."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(N, ...), one entry for each row of the table."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any, /) -> Any: ...


@dataclass(frozen=True)
class RowTable:
    """N rows of E episodes, laid end to end.

    Args:
        spec: of the episodes.
        timeline: which rows belong to which episode.
        columns: LeRobot's name -> (N, ...); frames are (N, H, W, 3) uint8 RGB.
        tasks: (E,) the instruction of each episode.
    """

    spec: EpisodeSpec
    timeline: Timeline
    columns: Mapping[str, Column]
    tasks: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.timeline)

    def __getitem__(self, name: str) -> Column:
        """A column by LeRobot's name, such as `observation.images.top` or `action`."""
        return self.columns[name]


def read_table(reader: EpisodeReader, ids: Collection[str] | None = None, memory_bytes: int | None = None) -> RowTable:
    """The rows of a dataset, or of the episodes `ids` in the order of the dataset.

    Args:
        memory_bytes: frames that fit in here are decoded once, now; else they stay on disk, and this process keeps up
            to so much of what it reads. None is half of the memory of the machine or container.

    Raises:
        StoreError: an id is not there, or the dataset is damaged.
    """
    summaries = _choose(reader, ids)
    timeline = Timeline([summary.length for summary in summaries])
    blocks = [reader.columns(summary.id) for summary in summaries]
    names = blocks[0] if blocks else ()
    numbers = {name: np.concatenate([block[name] for block in blocks]) for name in names}
    frames = _frames(reader, summaries, timeline, _half_of_the_memory() if memory_bytes is None else memory_bytes)
    return RowTable(reader.spec, timeline, {**frames, **numbers}, tuple(summary.task for summary in summaries))


def join_episodes(spec: EpisodeSpec, episodes: Iterable[Episode]) -> RowTable:
    """The rows of episodes that are in memory already."""
    episodes = list(episodes)
    blocks = [{**frames_of(episode), **columns_of(episode)} for episode in episodes]
    shared = [name for name in (blocks[0] if blocks else ()) if all(name in block for block in blocks)]
    columns = {name: np.concatenate([block[name] for block in blocks]) for name in shared}
    return RowTable(spec, Timeline([len(e) for e in episodes]), columns, tuple(e.task for e in episodes))


class StoredFrames:
    """The frames of one camera, read from disk when they are asked for.

    Args:
        access: to the dataset.
        ids: (E,) its episodes.
        timeline: of these episodes.
        camera: name of the camera.
        size: height and width.
    """

    def __init__(
        self, access: FrameAccess, ids: list[str], timeline: Timeline, camera: str, size: tuple[int, int]
    ) -> None:
        self._access, self._ids, self._timeline, self._camera = access, ids, timeline, camera
        self.shape = (len(timeline), *size, 3)

    def __len__(self) -> int:
        return len(self._timeline)

    def __getitem__(self, index: Any) -> np.ndarray:
        """As numpy would: frames of whole rows are read, of each no more than once, then the rest of the index cuts."""
        rows, *inside = index if isinstance(index, tuple) else (index,)
        wanted = np.arange(len(self))[rows]
        found = np.empty((*wanted.shape, *self.shape[1:]), np.uint8)
        self._fill(found.reshape(-1, *self.shape[1:]), wanted.reshape(-1))
        if not inside:
            return found
        all_rows = (slice(None),) if isinstance(rows, slice) else np.indices(wanted.shape, sparse=True)
        cut: np.ndarray = found[(*all_rows, *inside)]
        return cut

    def load(self) -> np.ndarray:
        """All frames, in memory."""
        frames = np.empty(self.shape, np.uint8)
        self._fill(frames, np.arange(len(self)))
        return frames

    def _fill(self, frames: np.ndarray, rows: np.ndarray) -> None:
        """Put the frames of `rows` (n,) into `frames` (n, H, W, 3), read in their order on disk."""
        distinct, counts = np.unique(rows, return_counts=True)
        places = iter(np.argsort(rows, kind="stable").tolist())
        for frame, count in zip(self._read(distinct), counts.tolist(), strict=True):
            for place in islice(places, count):
                frames[place] = frame

    def _read(self, rows: np.ndarray) -> Iterator[np.ndarray]:
        episodes = self._timeline.episode_of[rows]
        for episode in np.unique(episodes):
            numbers = rows[episodes == episode] - self._timeline.starts[episode]
            yield from self._access.frames(self._ids[episode], self._camera, numbers.tolist())


def _choose(reader: EpisodeReader, ids: Collection[str] | None) -> list[EpisodeSummary]:
    summaries = reader.summaries()
    if ids is None:
        return summaries
    wanted = set(ids)
    if unknown := sorted(wanted - {summary.id for summary in summaries}):
        raise StoreError(f"there is no episode {unknown[0]!r} in {reader.path}; ids() lists those it has")
    return [summary for summary in summaries if summary.id in wanted]


def _frames(
    reader: EpisodeReader, summaries: list[EpisodeSummary], timeline: Timeline, memory_bytes: int
) -> dict[str, Column]:
    fits = sum(len(timeline) * camera.height * camera.width * 3 for camera in reader.spec.cameras) <= memory_bytes
    ids = [summary.id for summary in summaries]
    found: dict[str, Column] = {}
    for camera in reader.spec.cameras:
        # Each has an access of its own, so that they can be read at the same time.
        access = open_frames(reader, 0 if fits else memory_bytes // len(reader.spec.cameras))
        stored = StoredFrames(access, ids, timeline, camera.name, (camera.height, camera.width))
        found[image_key(camera.name)] = stored.load() if fits else stored
    return found


def _half_of_the_memory() -> int:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # no such file outside a container, or the word "max" in it
        total = min(total, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return total // 2
