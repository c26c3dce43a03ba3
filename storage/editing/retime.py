"""A dataset at another rate: restamped where its rate was declared wrongly, or resampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from ..clips import kept_codec
from ..create import Format
from ..dataset import EpisodeReader
from ..drafts import Draft, copy_of, with_edit, write_drafts
from ..errors import ConfigError, StoreError
from ..progress import Progress, silent
from ..spec import EpisodeSpec
from ..stamps import due_times, in_time
from .resampling import Resampling

if TYPE_CHECKING:
    from ..video import Codec


@runtime_checkable
class Stamped(Protocol):
    """A reader which knows when each row was recorded, because its dataset may say other than row / fps."""

    def timestamps(self, id: str) -> np.ndarray:
        """(T,) float64, seconds."""
        ...


def restamp(
    source: EpisodeReader,
    path: Path | str,
    format: Format,
    fps: float,
    *,
    codec: Codec | None = None,
    progress: Progress = silent,
) -> int:
    """Write every row again at another rate: row t of an episode is then stamped t / fps.

    For data whose rate was declared wrongly, or whose clock jittered while rows were taken at an even pace.

    Args:
        source: opened with `uneven.open_uneven` if its timestamps are not row / fps.
        path: where nothing stands yet.
        format: of the new dataset.
        fps: the true rate in Hz, a whole number.
        codec: how a LeRobot dataset keeps frames; None keeps them as they are: what is video is not encoded anew.
        progress: told of each episode.

    Returns:
        The number of episodes.

    Raises:
        ConfigError: fps is no whole number.
        StoreError: something stands at `path`, or the disk is full.
    """
    spec = _at(source.spec, fps)
    drafts = (_marked(source, id, "restamp", spec.fps) for id in source.ids())
    return write_drafts(
        path, format, spec, drafts, codec=codec or kept_codec([source]), total=len(source), progress=progress
    )


def resample(
    source: EpisodeReader,
    path: Path | str,
    format: Format,
    fps: float,
    *,
    codec: Codec | None = None,
    progress: Progress = silent,
) -> int:
    """Write the episodes at another rate, by the time at which each row was recorded; see `Resampling`.

    Args:
        source: opened with `uneven.open_uneven` if its timestamps are not row / fps.
        path: where nothing stands yet.
        format: of the new dataset.
        fps: the new rate in Hz, a whole number.
        codec: how a LeRobot dataset keeps frames; None keeps them exactly.
        progress: told of each episode.

    Returns:
        The number of episodes.

    Raises:
        ConfigError: fps is no whole number.
        StoreError: something stands at `path`, the timestamps of an episode do not rise, or the disk is full.
    """
    spec = _at(source.spec, fps)
    drafts = resampled(source, source.ids(), spec.fps)
    return write_drafts(path, format, spec, drafts, codec=codec, total=len(source), progress=progress)


def resampled(source: EpisodeReader, ids: Sequence[str], fps: int) -> Iterator[Draft]:
    """The episodes at another rate; StoreError if the timestamps of one do not rise."""
    for id in ids:
        times, rate = _clock(source, id)
        plan = Resampling.plan(times, rate / fps)
        yield replace(_marked(source, id, "resample", fps), blocks=partial(plan.blocks, source, id), clips={})


def every(source: EpisodeReader, ids: Sequence[str], step: int) -> tuple[EpisodeSpec, Iterator[Draft]]:
    """Each `step`-th row of episodes, and the spec with the rate that belongs to it; see `Resampling`.

    Raises:
        ConfigError: the rate is not a multiple of `step`.
    """
    if step == 1:
        return source.spec, (copy_of(source, id) for id in ids)
    if step < 1 or source.spec.fps % step:
        raise _no_divisor(source, step)
    fps = source.spec.fps // step
    return _at(source.spec, fps), resampled(source, ids, fps)


def _no_divisor(source: EpisodeReader, step: int) -> ConfigError:
    rate = source.spec.fps
    divisors = [other for other in range(1, rate + 1) if rate % other == 0]
    nearest, wanted = min(divisors, key=lambda other: abs(other - step)), max(1, round(rate / max(1, step)))
    return ConfigError(
        f"every must divide the {rate} rows a second of {source.path}, got {step}; take {nearest}, or resample to any "
        f"whole rate, such as `demoloom retime --resample {wanted}`"
    )


def _marked(source: EpisodeReader, id: str, edit: str, fps: int) -> Draft:
    draft = copy_of(source, id)
    return replace(draft, lineage=with_edit(draft.lineage, edit, fps=fps, fps_before=source.spec.fps))


def _at(spec: EpisodeSpec, fps: float) -> EpisodeSpec:
    if not fps >= 1 or fps % 1:
        raise ConfigError(f"fps must be a whole number of 1 or more, got {fps}; take the nearest")
    return replace(spec, fps=int(fps))


def _clock(source: EpisodeReader, id: str) -> tuple[np.ndarray, float]:
    """When each row was recorded, in rows, and how many rows there were a second."""
    fps = float(source.spec.fps)
    even = np.arange(source.summary(id).length, dtype=np.float64)
    if not isinstance(source, Stamped):
        return even, fps
    times = source.timestamps(id)
    if in_time(times, due_times(len(times), fps)).all():
        return even, fps
    gaps = np.diff(times)
    if not (gaps > 0).all():
        raise StoreError(
            f"{source.path}: row {int(np.argmin(gaps > 0)) + 1} of episode {id!r} is not stamped later than the row "
            "before; give the true rate instead (--fps), or leave the episode out"
        )
    gap = float(np.median(gaps))
    return times / gap, 1 / gap
