"""Reading episodes, whatever format they are stored in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np

from .episode import Episode, EpisodeSummary, Rows
from .errors import StoreError
from .spec import EpisodeSpec


@runtime_checkable
class EpisodeReader(Protocol):
    """A dataset of episodes of one spec.

    Iteration yields the episodes in the order of `ids`, and holds one at a time.
    """

    path: Path
    spec: EpisodeSpec

    def __len__(self) -> int:
        """Number of episodes."""
        ...

    def __iter__(self) -> Iterator[Episode]: ...

    def ids(self) -> list[str]:
        """The ids of all episodes, by index."""
        ...

    def summaries(self) -> list[EpisodeSummary]:
        """The summaries of all episodes, in the order of `ids`; no frame is read."""
        ...

    def __contains__(self, id: str) -> bool: ...

    def summary(self, id: str) -> EpisodeSummary:
        """The summary of one episode; StoreError if it is not there."""
        ...

    def read(self, id: str) -> Episode:
        """Read one episode; StoreError if it is not there."""
        ...

    def rows(self, id: str, start: int, stop: int) -> Rows:
        """Rows start .. stop - 1 of one episode; StoreError if they are not there."""
        ...

    def columns(self, id: str) -> dict[str, np.ndarray]:
        """All of one episode but its frames, as `columns_of` names it; StoreError if it is not there."""
        ...


def check_rows_there(summary: EpisodeSummary, start: int, stop: int) -> None:
    """Raise StoreError if an episode has no rows start .. stop - 1."""
    if not 0 <= start < stop <= summary.length:
        raise StoreError(
            f"episode {summary.id!r} has rows 0 .. {summary.length - 1}, not {start} .. {stop - 1}; ask for fewer"
        )


def open_dataset(path: Path | str) -> EpisodeReader:
    """Open the dataset at `path`, a Zarr store or a LeRobot v3 dataset (also one which demoloom did not write).

    Raises:
        StoreError: there is no dataset, or one of a version that cannot be read.
    """
    path = Path(path)
    if (path / "meta" / "info.json").is_file():
        from .lerobot_reader import LeRobotReader

        return LeRobotReader(path)
    from .zarr_store import ZarrStore, is_store

    if is_store(path):
        return ZarrStore.open(path)
    raise no_dataset(path)


def no_dataset(path: Path) -> StoreError:
    """What to tell a user who names a folder without a dataset."""
    return StoreError(
        f"there is no dataset at {path}: expected a LeRobot dataset (meta/info.json) or a demoloom store (spec.json)"
    )
