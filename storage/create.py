"""Which format a dataset has, and a new one of either, which appears when it is complete."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from .atomic import publish_folder
from .errors import ConfigError, StoreError
from .recorder import EpisodeStore
from .spec import EpisodeSpec

if TYPE_CHECKING:
    from .video import Codec

Format = Literal["lerobot", "zarr"]

#: Any of these says that a folder was a LeRobot dataset, however little of it is left.
_OF_LEROBOT = ("info.json", "episodes", "tasks.parquet", "stats.json", "demoloom")


def format_of(path: Path) -> Format | None:
    """The format of the dataset at `path`, also of a damaged one; None if there is none."""
    if any((path / "meta" / name).exists() for name in _OF_LEROBOT):
        return "lerobot"
    return "zarr" if (path / "spec.json").is_file() or (path / "episodes").is_dir() else None


@contextmanager
def new_dataset(
    path: Path | str, format: Format, spec: EpisodeSpec, *, codec: Codec | None = None
) -> Iterator[EpisodeStore]:
    """Give an empty store to record into; it stands at `path` when the block ends without an error, or never.

    A LeRobot dataset is packed into few large files at the end.

    Args:
        codec: of a LeRobot dataset's frames, lossless video if None; a Zarr store is always lossless.

    Raises:
        ConfigError: there is no such format, or the spec or the codec does not fit it.
        StoreError: something stands at `path`, no episode was recorded into a LeRobot dataset, or the disk is full.
    """
    if format not in get_args(Format):
        raise ConfigError(f"format must be one of {', '.join(get_args(Format))}, got {format!r}")
    with publish_folder(path) as folder:
        if format == "zarr":
            from .zarr_store import ZarrStore

            yield ZarrStore.create(folder, spec)
        else:
            yield from _lerobot(folder, Path(path), spec, codec)


def _lerobot(folder: Path, path: Path, spec: EpisodeSpec, codec: Codec | None) -> Iterator[EpisodeStore]:
    from .lerobot_pack import pack
    from .lerobot_stats import write_stats
    from .lerobot_store import LeRobotStore
    from .video import LOSSLESS

    parts = folder / "parts"
    store = LeRobotStore.create(parts, spec, codec=codec or LOSSLESS)
    yield store
    if len(store) == 0:
        raise StoreError(f"there is no episode to write to {path}; a LeRobot dataset needs one or more")
    pack(parts, folder, spec, len(store))
    write_stats(folder, spec, store.num_rows)
    shutil.rmtree(parts)
