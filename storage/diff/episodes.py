"""In what two versions of one episode differ."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..columns import frames_of
from ..dataset import EpisodeReader
from ..drafts import block_ranges, rows_per_block

# A digest is of what was recorded: a lossy dataset and a copy of its decoded frames differ in nothing but that.
_ONLY_AS_RECORDED = "the frames as they were recorded, before a lossy codec; what is read is the same"


def episode_differences(left: EpisodeReader, right: EpisodeReader, id: str) -> list[str]:
    """A phrase for each field of the summary, each column and each camera in which an episode differs.

    Args:
        left, right: datasets in which the episode has different digests.
        id: of the episode.
    """
    found = [*_field_differences(left, right, id), *_column_differences(left, right, id)]
    return [*found, *_frame_differences(left, right, id)] or [_ONLY_AS_RECORDED]


def _field_differences(left: EpisodeReader, right: EpisodeReader, id: str) -> Iterator[str]:
    fields = left.summary(id).to_dict(), right.summary(id).to_dict()
    for name in fields[0]:
        if name != "lineage" and fields[0][name] != fields[1][name]:
            yield f"{name}: {fields[0][name]!r} -> {fields[1][name]!r}"


def _column_differences(left: EpisodeReader, right: EpisodeReader, id: str) -> Iterator[str]:
    columns = left.columns(id), right.columns(id)
    for name in columns[0] | columns[1]:
        yield from _array_difference(name, columns[0].get(name), columns[1].get(name))


def _array_difference(name: str, left: np.ndarray | None, right: np.ndarray | None) -> Iterator[str]:
    if left is None or right is None:
        yield f"{name}: only {'there' if left is None else 'here'}"
    elif left.shape != right.shape:
        yield f"{name}: shape {left.shape} -> {right.shape}"
    elif (steps := _differing_rows(left, right)).size:
        most = np.abs(left[steps].astype(np.float64) - right[steps]).max()
        yield f"{name}: differs in {len(steps)} of {len(left)} rows, first in row {steps[0]}, by {most:.4g} at most"


def _differing_rows(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.flatnonzero((left != right).reshape(len(left), -1).any(1))


def _frame_differences(left: EpisodeReader, right: EpisodeReader, id: str) -> Iterator[str]:
    lengths = left.summary(id).length, right.summary(id).length
    if lengths[0] != lengths[1] or left.spec.cameras != right.spec.cameras:
        return
    found: dict[str, list[int]] = {}
    for start, stop in block_ranges(0, lengths[0], rows_per_block(left.spec)):
        frames = frames_of(left.rows(id, start, stop)), frames_of(right.rows(id, start, stop))
        for name in frames[0]:
            found.setdefault(name, []).extend(start + _differing_rows(frames[0][name], frames[1][name]))
    for name, rows in found.items():
        if rows:
            yield f"{name}: differs in {len(rows)} of {lengths[0]} frames, first in row {rows[0]}"
