"""A LeRobot v3.0 dataset that episodes are added to, one after the other, by any number of processes.

Each episode has files of its own, written under temporary names, and `meta/info.json`, replaced last, counts it in.
Whatever kills a writer, the episodes that were counted are readable by plain LeRobot; what lies beyond is passed over,
and overwritten by the next writer. LeRobot's own writer loses every episode if it is killed, lets one process write,
drops frames when its encoder falls behind and stores wrong quantiles (all measured with 0.6.1).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from . import lerobot_layout as layout
from . import recorder
from .atomic import is_occupied, make_folder, refusals_named, sweep, write_json
from .clips import Clip
from .episode import Episode, EpisodeSummary, Rows
from .errors import SpecMismatch, StoreError
from .lerobot_commit import TakenEpisode, commit
from .lerobot_index import LeRobotIndex
from .lerobot_reader import LeRobotReader
from .lerobot_stats import write_stats
from .lerobot_take import LeRobotTake
from .recorder import EpisodeRecorder, refuse_other
from .spec import EpisodeSpec, read_spec
from .validation import validate_spec
from .video import LOSSLESS, Codec, ImageCodec

_LOCK = ".lock"


class LeRobotStore:
    """An EpisodeReader that can be added to. Make one with `create` or `open`; `close` it to have exact statistics."""

    def __init__(self, path: Path, spec: EpisodeSpec, codec: Codec) -> None:
        self.path = path
        self.spec = spec
        self.codec = codec
        self._index = LeRobotIndex(path, len(spec.cameras))
        self._index.refresh()
        self._reader: LeRobotReader | None = None

    @classmethod
    def create(
        cls, path: Path | str, spec: EpisodeSpec, *, codec: Codec = LOSSLESS, exist_ok: bool = False
    ) -> LeRobotStore:
        """Make an empty dataset at `path`, or with `exist_ok` open the one there.

        Raises:
            ConfigError: the spec cannot be stored, or the codec does not fit a frame size.
            StoreError: `path` holds a dataset and `exist_ok` is false, or holds something else. Nothing is touched.
            SpecMismatch: the dataset there has another spec or codec.
        """
        path = Path(path)
        validate_spec(spec)
        for camera in spec.cameras:
            codec.check(camera)
        if is_own(path) and not exist_ok:
            raise StoreError(f"{path} holds a dataset already; add to it with `exist_ok=True` or choose another")
        # The second look is for a dataset that another process made between the first and now.
        if not is_own(path) and _is_occupied(path) and not is_own(path):
            raise StoreError(f"{path} is not empty and not a demoloom dataset; choose another folder")
        _make_empty(path, spec, codec)
        store = cls.open(path)
        if found := _differences(store, spec, codec):
            raise SpecMismatch(f"the dataset at {path} differs from what is to be added: {'; '.join(found)}")
        return store

    @classmethod
    def open(cls, path: Path | str) -> LeRobotStore:
        """Open the dataset at `path` to add to it.

        Raises:
            StoreError: there is none, or demoloom did not write it.
        """
        path = Path(path)
        if not is_own(path):
            raise StoreError(
                f"there is no LeRobot dataset written by demoloom at {path}, and only such can be added to; "
                "`demoloom convert` makes one of any other"
            )
        sweep(path)
        return cls(path, read_spec(path / layout.SIDECAR_SPEC), layout.read_codec(path))

    def append(self, episode: Episode) -> bool:
        """Store a whole episode or nothing; true if it is new, false if the same one is there already.

        Raises:
            InvalidEpisode: it breaks the spec.
            StoreError: an episode of this id with other content is there, or the disk is full.
        """
        return recorder.append(self, episode)

    def record(
        self, id: str, *, index: int, seed: int, task: str, clips: Mapping[str, Clip] | None = None
    ) -> EpisodeRecorder:
        """Begin an episode that comes row by row; its frames are encoded meanwhile, in a thread for each camera.

        Args:
            clips: camera name -> the same frames as video; what is encoded by this dataset's codec is taken over.

        Raises:
            InvalidEpisode: id, index, seed or task cannot be stored.
            StoreError: the folder cannot be written.
        """
        fitting = {name: clip for name, clip in (clips or {}).items() if clip.codec == self.codec}
        begin = lambda: LeRobotTake(self.path, self.spec, self.codec, self._commit, fitting)  # noqa: E731
        return EpisodeRecorder(id, index, seed, task, self.spec, begin)

    def digest(self, id: str) -> str | None:
        """The digest of an episode's content (see `recorder.digest_of`); None if the episode is not there."""
        self._index.refresh()
        return self._index.digests.get(id)

    def close(self) -> None:
        """Make the statistics of the dataset exact; more episodes can be added after."""
        with locked(self.path), refusals_named(self.path):
            self._index.refresh(trust_clock=False)
            if self._index.num_rows:
                write_stats(self.path, self.spec, self._index.num_rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        self._index.refresh()
        return len(self._index.digests)

    def __contains__(self, id: str) -> bool:
        return self.digest(id) is not None

    def __iter__(self) -> Iterator[Episode]:
        return iter(self._read())

    def ids(self) -> list[str]:
        """The ids of all episodes, in LeRobot's order."""
        self._index.refresh()
        return list(self._index.digests)

    def summary(self, id: str) -> EpisodeSummary:
        """The summary of one episode; StoreError if it is not there."""
        return self._read().summary(id)

    def summaries(self) -> list[EpisodeSummary]:
        """The summaries of all episodes, in LeRobot's order; no frame is read."""
        return self._read().summaries()

    def read(self, id: str) -> Episode:
        """Read one episode; StoreError if it is not there or damaged."""
        return self._read().read(id)

    def rows(self, id: str, start: int, stop: int) -> Rows:
        """Rows start .. stop - 1 of one episode; StoreError if they are not there or damaged."""
        return self._read().rows(id, start, stop)

    def columns(self, id: str) -> dict[str, np.ndarray]:
        """All but the frames of one episode, as `columns.columns_of` names them; StoreError if it is not there."""
        return self._read().columns(id)

    @property
    def num_rows(self) -> int:
        """Rows of all episodes."""
        self._index.refresh()
        return self._index.num_rows

    def _read(self) -> LeRobotReader:
        if self._reader is None or len(self._reader) != len(self):
            self._reader = LeRobotReader(self.path)
        return self._reader

    def _commit(self, taken: TakenEpisode) -> bool:
        with locked(self.path), refusals_named(self.path):
            self._index.refresh(trust_clock=False)
            if (there := self.digest(taken.summary.id)) is not None:
                refuse_other(there, taken.digest, taken.summary.id)
                return False
            commit(self.path, self.spec, self.codec, self._index, taken)
            return True


def is_own(path: Path) -> bool:
    """Whether a LeRobot dataset that demoloom wrote, and only demoloom, stands at `path`."""
    return (path / layout.INFO).is_file() and (path / layout.SIDECAR_SPEC).is_file()


def _make_empty(path: Path, spec: EpisodeSpec, codec: Codec) -> None:
    make_folder(path)
    with locked(path), refusals_named(path):
        if is_own(path):
            return
        write_json(path / layout.SIDECAR_SPEC, spec.to_dict())
        kind = "image" if isinstance(codec, ImageCodec) else "video"
        write_json(path / layout.SIDECAR_CODEC, {"kind": kind, **asdict(codec)})
        (path / layout.SIDECAR_EPISODES).touch()
        write_json(path / layout.INFO, layout.info(spec, codec, 0, 0, 0))


def _is_occupied(path: Path) -> bool:
    """Also a folder which a killed writer left before the dataset was there may be used."""
    begun = {"meta", _LOCK}
    if path.is_dir() and {entry.name for entry in path.iterdir()} <= begun:
        return (path / layout.INFO).exists()
    return is_occupied(path)


def _differences(store: LeRobotStore, spec: EpisodeSpec, codec: Codec) -> list[str]:
    found = store.spec.all_differences(spec)
    if store.codec != codec:
        found.append(f"codec is {store.codec} here and {codec} there")
    return found


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time write; the lock falls with the process that holds it."""
    with refusals_named(path):
        lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


@contextmanager
def at_rest(path: Path) -> Iterator[None]:
    """Let no process count in an episode meanwhile; nothing is written, and many may wait for that at once."""
    if not (path / _LOCK).is_file():  # nobody has added to it
        yield
        return
    lock = os.open(path / _LOCK, os.O_RDONLY)
    try:
        with suppress(OSError):  # a disk that knows no locks has no writers either
            fcntl.flock(lock, fcntl.LOCK_SH)
        yield
    finally:
        os.close(lock)
