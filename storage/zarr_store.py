"""Episodes as Zarr v3 groups, one for each, which many processes may add to at once.

<path>/spec.json                 the EpisodeSpec and the version of this layout
<path>/episodes/<id>/zarr.json   the summary and the digest of the content, as group attributes
<path>/episodes/<id>/<column>/   one array for each camera and column, under LeRobot's names
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from . import recorder
from .atomic import (
    PendingFolder,
    is_occupied,
    make_folder,
    read_json,
    refusals_named,
    remove_folder,
    sweep,
    write_json,
)
from .columns import columns_of, episode_of, frames_of, image_key, names_of, pack, rows_of, unpack
from .damage import damage_named
from .dataset import check_rows_there
from .episode import Episode, EpisodeSummary, Rows
from .errors import SpecMismatch, StoreError
from .recorder import EpisodeRecorder, refuse_other
from .spec import EpisodeSpec, read_spec
from .validation import validate_spec
from .zarr_access import read_rows
from .zarr_writing import ArrayWriter, write_group

FORMAT_VERSION = 1
_COLUMNS = "columns"


class ZarrStore:
    """An EpisodeReader that can be added to. Make one with `create` or `open`."""

    def __init__(self, path: Path, spec: EpisodeSpec) -> None:
        self.path = path
        self.spec = spec
        self._episodes = path / "episodes"

    @classmethod
    def create(cls, path: Path | str, spec: EpisodeSpec, exist_ok: bool = False) -> ZarrStore:
        """Make an empty store at `path`, or with `exist_ok` open the one there.

        Raises:
            ConfigError: the spec cannot be stored.
            StoreError: `path` holds a store and `exist_ok` is false, or holds something else. Nothing is touched.
            SpecMismatch: the store there has another spec.
        """
        path = Path(path)
        validate_spec(spec)
        if is_store(path) and not exist_ok:
            raise StoreError(f"{path} holds a dataset already; add to it with `exist_ok=True` or choose another")
        # The second look is for a store that another process made between the first and now.
        if not is_store(path) and is_occupied(path) and not is_store(path):
            raise StoreError(f"{path} is not empty and not a demoloom dataset; choose another folder")
        if not is_store(path):
            write_json(path / "spec.json", {"format_version": FORMAT_VERSION, **spec.to_dict()})
        store = cls.open(path)
        if differences := store.spec.all_differences(spec):
            raise SpecMismatch(f"the dataset at {path} differs from what is to be added: {'; '.join(differences)}")
        return store

    @classmethod
    def open(cls, path: Path | str) -> ZarrStore:
        """Open the store at `path`.

        Raises:
            StoreError: there is none, or it was written by a later version.
        """
        path = Path(path)
        if not is_store(path):
            raise StoreError(f"there is no demoloom store at {path} (no spec.json); check the path")
        data = read_json(path / "spec.json")
        if data["format_version"] != FORMAT_VERSION:
            raise StoreError(
                f"the store at {path} has format version {data['format_version']}, this version of demoloom reads "
                f"{FORMAT_VERSION}; install the one that wrote it"
            )
        store = cls(path, read_spec(path / "spec.json"))
        make_folder(store._episodes)
        sweep(store._episodes)
        return store

    def append(self, episode: Episode) -> bool:
        """Store a whole episode or nothing; true if it is new, false if the same one is there already.

        Raises:
            InvalidEpisode: it breaks the spec.
            StoreError: an episode of this id with other content is there, or the disk is full.
        """
        return recorder.append(self, episode)

    def record(self, id: str, *, index: int, seed: int, task: str) -> EpisodeRecorder:
        """Begin an episode that comes row by row; memory does not grow with its length.

        Raises:
            InvalidEpisode: id, index, seed or task cannot be stored.
            StoreError: the folder cannot be written.
        """
        return EpisodeRecorder(id, index, seed, task, self.spec, lambda: _Take(self))

    def discard(self, id: str) -> None:
        """Delete an episode.

        Raises:
            StoreError: it is not there.
        """
        self._attributes(id)
        remove_folder(self._episodes / id)

    def __len__(self) -> int:
        return len(self._names())

    def __iter__(self) -> Iterator[Episode]:
        for id in self.ids():
            yield self.read(id)

    def ids(self) -> list[str]:
        """The ids of all episodes, by index."""
        return [summary.id for summary in self.summaries()]

    def __contains__(self, id: str) -> bool:
        return (self._episodes / id).exists()

    def summary(self, id: str) -> EpisodeSummary:
        """The summary of one episode.

        Raises:
            StoreError: it is not there.
        """
        attributes = self._attributes(id)
        with damage_named(self._episodes / id):
            return EpisodeSummary.from_dict(attributes["summary"])

    def summaries(self) -> list[EpisodeSummary]:
        """The summaries of all episodes, by index; no array is read."""
        found = [self.summary(id) for id in self._names()]
        return sorted(found, key=lambda summary: (summary.index, summary.id))

    def read(self, id: str) -> Episode:
        """Read one episode.

        Raises:
            StoreError: it is not there, or is damaged.
        """
        summary = self.summary(id)
        return episode_of(summary, _read(self._episodes / id, self.spec, 0, summary.length))

    def rows(self, id: str, start: int, stop: int) -> Rows:
        """Rows start .. stop - 1 of one episode.

        Raises:
            StoreError: it is not there, has fewer rows, or is damaged.
        """
        check_rows_there(self.summary(id), start, stop)
        return _read(self._episodes / id, self.spec, start, stop)

    def columns(self, id: str) -> dict[str, np.ndarray]:
        """All of one episode but its frames, as `columns_of` names it.

        Raises:
            StoreError: it is not there, or is damaged.
        """
        folder, length = self._episodes / id, self.summary(id).length
        table = read_rows(folder / _COLUMNS, 0, length)
        with damage_named(folder):
            return unpack(table, self.spec)

    def digest(self, id: str) -> str | None:
        """The digest of an episode's content (see `recorder.digest_of`); None if the episode is not there."""
        if id not in self:
            return None
        attributes = self._attributes(id)
        with damage_named(self._episodes / id):
            return str(attributes["digest"])

    def publish(self, pending: PendingFolder, id: str, digest: str) -> bool:
        """Make a written folder the episode `id`; false if the same one is there already."""
        if (there := self.digest(id)) is None:
            try:
                pending.publish(self._episodes / id)
                return True
            except StoreError:
                # Another process may have stored it between the look and the rename.
                if (there := self.digest(id)) is None:
                    raise
        refuse_other(there, digest, id)
        return False

    def _names(self) -> list[str]:
        return [entry.name for entry in self._episodes.iterdir() if not entry.name.startswith(".")]

    def _attributes(self, id: str) -> dict[str, Any]:
        # Straight from the metadata file: opening groups through zarr takes a hundred times as long.
        file = self._episodes / id / "zarr.json"
        try:
            return dict(json.loads(file.read_text(encoding="utf-8"))["attributes"])
        except (FileNotFoundError, NotADirectoryError) as error:
            raise StoreError(f"there is no episode {id!r} in {self.path}; ids() lists those it has") from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(f"episode {id!r} in {self.path} is damaged ({file}); delete its folder") from error


def is_store(path: Path) -> bool:
    """Whether a Zarr store of this package stands at `path`."""
    file = path / "spec.json"
    return file.is_file() and "format_version" in read_json(file)


class _Take:
    """An episode under way in a folder of its own, one array for each camera and one for all columns."""

    def __init__(self, store: ZarrStore) -> None:
        self._store = store
        self._pending = PendingFolder(store.path / "episodes")
        self._arrays: dict[str, ArrayWriter] = {}

    def write(self, rows: Rows) -> None:
        with refusals_named(self._store.path):
            for name, array in {**frames_of(rows), _COLUMNS: pack(columns_of(rows), self._store.spec)}.items():
                if name not in self._arrays:
                    self._arrays[name] = ArrayWriter(self._pending.path / name, array)
                self._arrays[name].write(array)

    def publish(self, summary: EpisodeSummary, digest: str) -> bool:
        names = [list(pair) for pair in names_of(self._store.spec).items()]
        with refusals_named(self._store.path):
            for array in self._arrays.values():
                array.close()
            write_group(self._pending.path, {"summary": summary.to_dict(), "digest": digest, "columns": names})
        return self._store.publish(self._pending, summary.id, digest)

    def close(self) -> None:
        self._pending.close()


def _read(folder: Path, spec: EpisodeSpec, start: int, stop: int) -> Rows:
    frames = {key: read_rows(folder / key, start, stop) for key in (image_key(camera.name) for camera in spec.cameras)}
    table = read_rows(folder / _COLUMNS, start, stop)
    with damage_named(folder):
        return rows_of(spec, frames, unpack(table, spec))
