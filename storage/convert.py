"""From one format to the other, episode by episode."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Literal, get_args

from .atomic import publish_folder
from .dataset import EpisodeReader
from .episode import Episode
from .errors import ConfigError, StoreError
from .zarr_store import ZarrStore

Format = Literal["lerobot", "zarr"]


def convert(source: EpisodeReader, path: Path | str, format: Format, ids: Collection[str] | None = None) -> None:
    """Copy the episodes of `source`, or those in `ids`, to a new dataset at `path`; one is in memory at a time.

    Raises:
        ConfigError: there is no such format.
        StoreError: `source` lacks an id, has no episode to copy, or something stands at `path`.
    """
    if format not in get_args(Format):
        raise ConfigError(f"format must be one of {', '.join(get_args(Format))}, got {format!r}")
    chosen = _choose(source, ids)
    if format == "zarr":
        _write_zarr(source, path, chosen)
    else:
        from .lerobot_writer import write_lerobot

        write_lerobot(path, source.spec, _episodes(source, chosen))


def _choose(source: EpisodeReader, ids: Collection[str] | None) -> list[str]:
    present = source.ids()
    wanted = set(present if ids is None else ids)
    if unknown := sorted(wanted.difference(present)):
        raise StoreError(f"{source.path} has no episode {unknown[0]!r} ({len(unknown)} of those asked for are missing)")
    return [id for id in present if id in wanted]


def _write_zarr(source: EpisodeReader, path: Path | str, ids: list[str]) -> None:
    with publish_folder(path) as folder:
        store = ZarrStore.create(folder, source.spec)
        for episode in _episodes(source, ids):
            store.append(episode)


def _episodes(source: EpisodeReader, ids: list[str]) -> Iterator[Episode]:
    return (source.read(id) for id in ids)
