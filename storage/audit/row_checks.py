"""What can be wrong with the numbers of rows that follow each other, in any format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..columns import ACTION, SCORE, TRUST
from ..spec import EpisodeSpec
from ..stamps import due_times, in_time
from .tally import Fault

REPLACE = "record the episode again, or leave it out with `demoloom select --drop`"


def unfit_numbers(name: str, values: np.ndarray, dims: Sequence[str], start: int) -> Iterator[Fault]:
    """Every number must be finite; `values` (T, D) are rows start, start + 1, ..."""
    unfit = np.argwhere(~np.isfinite(values))
    if len(unfit):
        step, dim = map(int, unfit[0])
        what = f"{_dim(dims, dim)}is {values[step, dim]} at step {start + step}"
        yield Fault(name, what, f"every number must be finite, {REPLACE}", count=len(unfit))


def out_of_bounds(name: str, values: np.ndarray, spec: EpisodeSpec, start: int) -> Iterator[Fault]:
    """Actions lie within the spec's bounds, scores and trusts within 0 .. 1; other columns may hold anything."""
    bounds = {ACTION: (spec.action.low, spec.action.high), SCORE: ((0.0,), (1.0,)), TRUST: ((0.0,), (1.0,))}
    if name not in bounds or values.shape[1] != len(bounds[name][0]):
        return
    # In float32, or a bound such as 0.1 would refuse a float32 value clipped to it.
    low, high = np.asarray(bounds[name], np.float32)
    outside = np.argwhere((values < low) | (values > high))
    if len(outside):
        step, dim = map(int, outside[0])
        dims = spec.action.names if name == ACTION else ()
        what = f"{_dim(dims, dim)}is {values[step, dim]} at step {start + step}, outside {low[dim]} .. {high[dim]}"
        yield Fault(name, what, f"clip it where it is recorded, and {REPLACE}", count=len(outside))


def wrong_stamps(stamps: np.ndarray, fps: int, start: int) -> Iterator[Fault]:
    """Row t of an episode is stamped t / fps seconds; `stamps` (T,) are those of rows start, start + 1, ..."""
    due = due_times(len(stamps), fps, start)
    late = np.argwhere(~in_time(stamps, due))
    if not len(late):
        return
    step = int(late[0, 0])
    what = f"row {start + step} is stamped {stamps[step]:.4f} s, at {fps} fps it must be {due[step]:.4f} s"
    if (rate := _other_rate(stamps, start)) is not None:
        remedy = f"they were recorded at {rate} fps, set fps in meta/info.json to {rate} or use `demoloom retime`"
        yield Fault("timestamp", what, remedy, count=len(late))
    else:
        remedy = "--repair --retime stamps every row t / fps"
        yield Fault("timestamp", what, remedy, count=len(late), mend="retime")


def _other_rate(stamps: np.ndarray, start: int) -> int | None:
    """The whole rate that all stamps follow; None if there is none."""
    if len(stamps) < 2 or not stamps[-1] > 0:
        return None
    rate = round((start + len(stamps) - 1) / float(stamps[-1]))
    fits = in_time(stamps, due_times(len(stamps), max(rate, 1), start))
    return rate if rate >= 1 and fits.all() else None


def wrong_counter(name: str, values: np.ndarray, due: np.ndarray, start: int) -> Iterator[Fault]:
    """A column that counts rows holds what it must; `values` and `due` are (T,)."""
    wrong = np.argwhere(values != due)
    if len(wrong):
        step = int(wrong[0, 0])
        what = f"row {start + step} has {name} {values[step]}, expected {due[step]}"
        yield Fault(name, what, "the dataset was cut or mixed up, restore it or merge it anew", count=len(wrong))


def _dim(dims: Sequence[str], dim: int) -> str:
    return f"{dims[dim]!r} " if len(dims) > 1 and dim < len(dims) else ""
