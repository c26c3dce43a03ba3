"""Cutting idle ends off episodes: a person who has not begun yet, an arm that rests after the task is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .clips import kept_codec
from .columns import ACTION, SCORE, STATE, SUCCESS
from .create import Format
from .dataset import EpisodeReader
from .drafts import Draft, copy_of, with_edit, write_drafts
from .errors import ConfigError
from .progress import Progress, silent
from .quality.motion import idle_ends, normalised, speed
from .spec import EpisodeSpec

if TYPE_CHECKING:
    from .video import Codec


@dataclass(frozen=True)
class TrimSettings:
    """What counts as idle, and how much of it stays.

    Args:
        idle_speed: a step is idle if no dimension of state and action, nor the score, changes faster, in ranges of
            its bounds a second, and success stays what it was.
        keep: idle steps that stay at each end, so that a policy sees how a motion begins and ends.
    """

    idle_speed: float = 0.01
    keep: int = 2

    def __post_init__(self) -> None:
        for name in ("idle_speed", "keep"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name} must be at least 0, got {getattr(self, name)}")


@dataclass(frozen=True)
class Cut:
    """The rows start .. stop - 1 of an episode of `length` rows, which stay."""

    id: str
    start: int
    stop: int
    length: int

    @property
    def num_cut(self) -> int:
        """Rows that go."""
        return self.length - (self.stop - self.start)


def find_cuts(reader: EpisodeReader, settings: TrimSettings, progress: Progress = silent) -> Iterator[Cut]:
    """What stays of each episode, in the order of the dataset; no frame is read.

    An episode that is idle from end to end stays whole: to reject it is for `curate`, by its `idle_share`.
    """
    ids = reader.ids()
    for number, id in enumerate(ids, start=1):
        columns = reader.columns(id)
        start, stop = busy_rows(columns, reader.spec, settings)
        progress(number, len(ids), id)
        yield Cut(id, start, stop, len(columns[ACTION]))


def busy_rows(columns: dict[str, np.ndarray], spec: EpisodeSpec, settings: TrimSettings) -> tuple[int, int]:
    """The first row that stays and the one after the last, of an episode's columns."""
    length, success = len(columns[ACTION]), columns[SUCCESS]
    tracks = [
        normalised(columns[STATE], spec.state),
        normalised(columns[ACTION], spec.action),
        columns[SCORE][:, None],
    ]
    idle = speed(np.hstack(tracks), spec.fps) < settings.idle_speed
    # The step that solves the task stays, however still the robot is meanwhile.
    start, end = idle_ends(idle & (success[1:] == success[:-1]))
    if start + end >= length:
        return 0, length
    return max(0, start - settings.keep), min(length, length - end + settings.keep)


def trim(
    reader: EpisodeReader,
    out: Path,
    format: Format,
    settings: TrimSettings,
    *,
    codec: Codec | None = None,
    progress: Progress = silent,
) -> list[Cut]:
    """Copy a dataset to `out` without the idle ends of its episodes; what was cut is in their lineage.

    Args:
        reader: the dataset; only read.
        out: where nothing stands yet.
        format: of the copy.
        settings: what is cut.
        codec: how a LeRobot dataset keeps frames; None keeps them as they are if nothing is cut, else exactly: a part
            of a video can only be encoded anew.
        progress: told of each episode.

    Returns:
        What stays of each episode.

    Raises:
        StoreError: something stands at `out`, or the disk is full.
    """
    cuts = list(find_cuts(reader, settings))
    drafts = (_draft(reader, cut, settings) for cut in cuts)
    if codec is None and not any(cut.num_cut for cut in cuts):
        codec = kept_codec([reader])
    write_drafts(out, format, reader.spec, drafts, codec=codec, total=len(cuts), progress=progress)
    return cuts


def _draft(reader: EpisodeReader, cut: Cut, settings: TrimSettings) -> Draft:
    draft = copy_of(reader, cut.id, cut.start, cut.stop)
    if not cut.num_cut:
        return draft
    rows = {"start": cut.start, "stop": cut.stop, "length": cut.length}
    return replace(draft, lineage=with_edit(draft.lineage, "trim", **asdict(settings), rows=rows))
