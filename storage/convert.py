"""From one format to the other, episode by episode."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from .clips import kept_codec
from .create import Format
from .dataset import EpisodeReader
from .drafts import copy_of, write_drafts
from .errors import StoreError
from .progress import Progress, silent

if TYPE_CHECKING:
    from .video import Codec


def convert(
    source: EpisodeReader,
    path: Path | str,
    format: Format,
    ids: Collection[str] | None = None,
    *,
    codec: Codec | None = None,
    progress: Progress = silent,
) -> int:
    """Copy the episodes of `source`, or those in `ids`, to a new dataset; a few megabytes are in memory at a time.

    Args:
        source: of either format.
        path: where nothing stands yet.
        format: of the new dataset.
        ids: None for all.
        codec: how a LeRobot dataset keeps frames; None keeps them as they are: what is video is not encoded anew.
        progress: told of each episode.

    Returns:
        The number of episodes written.

    Raises:
        ConfigError: there is no such format, or it cannot hold the spec.
        StoreError: `source` lacks an id, has no episode for a LeRobot dataset, something stands at `path`, or the disk
            is full.
    """
    present = source.ids()
    wanted = set(present if ids is None else ids)
    check_ids(source, wanted)
    chosen = [id for id in present if id in wanted]
    drafts = (copy_of(source, id) for id in chosen)
    return write_drafts(
        path, format, source.spec, drafts, codec=codec or kept_codec([source]), total=len(chosen), progress=progress
    )


def check_ids(source: EpisodeReader, ids: Collection[str]) -> None:
    """Raise StoreError if an id is not in the source."""
    if unknown := sorted(id for id in ids if id not in source):
        raise StoreError(f"{source.path} has no episode {unknown[0]!r} ({len(unknown)} of those asked for are missing)")
