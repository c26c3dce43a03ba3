"""Episodes as Zarr v3 groups, one for each, which many processes may add to at once.

<path>/spec.json                 the EpisodeSpec and the version of this layout
<path>/episodes/<id>/zarr.json   the summary and the digest of the content, as group attributes
<path>/episodes/<id>/<column>/   one array for each camera and column, under LeRobot's names
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .atomic import is_occupied, make_folder, publish_folder, read_json, remove_folder, sweep, write_json
from .columns import IMAGE_PREFIX, columns_of, episode_of, frames_of, names_of, pack, unpack
from .episode import Episode, EpisodeSummary, summarise
from .errors import SpecMismatch, StoreError
from .spec import EpisodeSpec, read_spec
from .validation import validate_episode, validate_spec

FORMAT_VERSION = 1
_COLUMNS = "columns"

# Measured on 64 px PushT frames: 32 to a chunk, zstd level 3 takes 75 B/frame and writes 24 000 frames/s; 16 takes
# 90 B/frame, Blosc with bit shuffle 550 B/frame.
_FRAMES_PER_CHUNK = 32
_ZSTD_LEVEL = 3
_CHUNK_BYTES = 8 << 20
_CHUNKS_PER_SHARD = 32


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
            raise StoreError(f"{path} holds a dataset already; resume it, or choose another folder")
        # The second look is for a store that another process made between the first and now.
        if not is_store(path) and is_occupied(path) and not is_store(path):
            raise StoreError(f"{path} is not empty and not a demoloom store; choose another folder")
        if not is_store(path):
            write_json(path / "spec.json", {"format_version": FORMAT_VERSION, **spec.to_dict()})
        store = cls.open(path)
        if differences := _differences(store.spec, spec):
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
        """Store an episode, wholly or not at all; true if it is new, false if the same one is there already.

        Raises:
            InvalidEpisode: it breaks the spec.
            StoreError: an episode of this id with other content is there, or the disk is full.
        """
        validate_episode(episode, self.spec)
        digest = _digest(episode)
        if self._holds(episode.id, digest):
            return False
        try:
            with publish_folder(self._episodes / episode.id) as folder:
                _write(folder, episode, self.spec, digest)
        except StoreError:
            # Another process may have stored it between the look and the rename.
            if self._holds(episode.id, digest):
                return False
            raise
        return True

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
        return EpisodeSummary.from_dict(self._attributes(id)["summary"])

    def summaries(self) -> list[EpisodeSummary]:
        """The summaries of all episodes, by index; no array is read."""
        found = [self.summary(id) for id in self._names()]
        return sorted(found, key=lambda summary: (summary.index, summary.id))

    def read(self, id: str) -> Episode:
        """Read one episode.

        Raises:
            StoreError: it is not there, or is damaged.
        """
        return episode_of(self.summary(id), self.spec, *_read(self._episodes / id, self.spec))

    def _names(self) -> list[str]:
        return [entry.name for entry in self._episodes.iterdir() if not entry.name.startswith(".")]

    def _holds(self, id: str, digest: str) -> bool:
        if id not in self:
            return False
        if self._attributes(id)["digest"] != digest:
            raise StoreError(
                f"episode {id!r} in {self.path} has other content than the one to be added; "
                "discard it first, or give the new one another id"
            )
        return True

    def _attributes(self, id: str) -> dict[str, Any]:
        # Straight from the metadata file: opening groups through zarr takes a hundred times as long.
        file = self._episodes / id / "zarr.json"
        try:
            return dict(json.loads(file.read_text(encoding="utf-8"))["attributes"])
        except (FileNotFoundError, NotADirectoryError) as error:
            raise StoreError(f"there is no episode {id!r} in {self.path}; ids() lists those it has") from error
        except (ValueError, KeyError) as error:
            raise StoreError(f"episode {id!r} in {self.path} is damaged ({file}); delete its folder") from error


def is_store(path: Path) -> bool:
    """Whether a Zarr store of this package stands at `path`."""
    file = path / "spec.json"
    return file.is_file() and "format_version" in read_json(file)


def _differences(there: EpisodeSpec, new: EpisodeSpec) -> list[str]:
    found = there.differences(new)
    if there.labels.keys() != new.labels.keys():
        found.append(f"labels are {sorted(there.labels)} here and {sorted(new.labels)} there")
    return found


def _digest(episode: Episode) -> str:
    # Without the lineage: the same episode made again by a resumed run may come from a later commit.
    summary = {**summarise(episode).to_dict(), "lineage": None}
    digest = hashlib.sha256(json.dumps(summary, sort_keys=True).encode())
    for name, array in sorted({**frames_of(episode), **columns_of(episode)}.items()):
        digest.update(f"{name} {array.shape} {array.dtype.str}".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _write(folder: Path, episode: Episode, spec: EpisodeSpec, digest: str) -> None:
    import zarr

    attributes = {"summary": summarise(episode).to_dict(), "digest": digest}
    group = zarr.create_group(folder, zarr_format=3, overwrite=True, attributes=attributes)
    # One array for all columns: zarr needs 5 ms to make one, as long as for the frames themselves.
    names = [list(pair) for pair in names_of(spec).items()]
    _write_array(group, _COLUMNS, pack(columns_of(episode), spec), len(episode), attributes={"names": names})
    for name, frames in frames_of(episode).items():
        _write_array(group, name, frames, max(1, min(_FRAMES_PER_CHUNK, _CHUNK_BYTES // frames[0].nbytes)))


def _write_array(group: Any, name: str, array: np.ndarray, rows: int, attributes: dict[str, Any] | None = None) -> None:
    from zarr.codecs import ZstdCodec

    rows = min(rows, len(array))
    # A shard is one file, so that a short episode is one file for each camera and a long one a few.
    shard = min(-(-len(array) // rows), _CHUNKS_PER_SHARD) * rows
    stored = group.create_array(
        name,
        shape=array.shape,
        dtype=array.dtype,
        chunks=(rows, *array.shape[1:]),
        shards=(shard, *array.shape[1:]) if shard > rows else None,
        compressors=ZstdCodec(level=_ZSTD_LEVEL, checksum=True),
        attributes=attributes,
    )
    stored[:] = array


def _read(folder: Path, spec: EpisodeSpec) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    import zarr

    try:
        group = zarr.open_group(folder, mode="r")
        frames = {IMAGE_PREFIX + camera.name: group[IMAGE_PREFIX + camera.name][:] for camera in spec.cameras}
        return frames, unpack(group[_COLUMNS][:], spec)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise StoreError(f"episode {folder.name!r} in {folder.parents[1]} is damaged ({error}); discard it") from error
