"""Which arrays of a foreign file make the state, the action, the cameras and the labels of an episode."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ..errors import StoreError
from .recording import Recording, Window

_SLICE = re.compile(r"(?P<key>.+)\[(?P<start>\d*):(?P<stop>\d*)\]")


@dataclass(frozen=True)
class ColumnRef:
    """Some dimensions of an array: all of `state`, or with `state[2:5]` the third to the fifth.

    Args:
        key: of the array.
        start: first dimension.
        stop: the one after the last; None for all.
    """

    key: str
    start: int = 0
    stop: int | None = None

    @classmethod
    def parse(cls, text: str) -> ColumnRef:
        """Read `key` or `key[start:stop]`."""
        if not (found := _SLICE.fullmatch(text)):
            return cls(text)
        return cls(found["key"], int(found["start"] or 0), int(found["stop"]) if found["stop"] else None)

    def read(self, recording: Recording, start: int, stop: int) -> np.ndarray:
        """Rows start .. stop - 1 of an episode, (T, D) float32; a row of any shape is laid out flat."""
        values = recording.arrays[self.key].read(start, stop)
        return np.ascontiguousarray(values.reshape(len(values), -1)[:, self.start : self.stop], np.float32)

    def names(self, recording: Recording) -> list[str]:
        """A name for each dimension."""
        size = int(np.prod(recording.arrays[self.key].row_shape, dtype=int))
        dims = range(size)[self.start : self.stop]
        name = self.key.rpartition("/")[2]
        return [name if size == 1 else f"{name}_{dim}" for dim in dims]


@dataclass(frozen=True)
class Layout:
    """What is what in a foreign file.

    Args:
        action: the commanded action.
        state: side by side, what the robot reports of itself; empty: the action commanded before (the first again).
        cameras: camera name -> key of its frames.
        labels: label name -> vector only the one who recorded knows.
        reward: key of the reward after each step; empty if there is none.
    """

    action: ColumnRef
    state: tuple[ColumnRef, ...]
    cameras: Mapping[str, str]
    labels: Mapping[str, ColumnRef] = field(default_factory=dict)
    reward: str = ""

    def length(self, recording: Recording) -> int:
        """Number of rows of an episode; of T + 1 observations and T actions the last observation is left out.

        Raises:
            StoreError: an array is missing, or their lengths do not fit.
        """
        rows = len(_array(recording, self.action.key))
        observed = [*(ref.key for ref in (*self.state, *self.labels.values())), *self.cameras.values()]
        allowed = {key: (rows, rows + 1) for key in observed if key != self.action.key}
        if self.reward:
            allowed[self.reward] = (rows, rows)
        for key, lengths in allowed.items():
            found = len(_array(recording, key))
            if found not in lengths:
                expected = " or ".join(map(str, dict.fromkeys(lengths)))
                raise StoreError(
                    f"{recording.place} has {rows} rows of {self.action.key} and {found} of {key}, "
                    f"expected {expected}; leave the episode out"
                )
        if rows == 0:
            raise StoreError(f"{recording.place} has no rows; leave the episode out")
        return rows


def _array(recording: Recording, key: str) -> Window:
    if key not in recording.arrays:
        raise StoreError(f"{recording.place} has no {key!r}; there are {', '.join(recording.arrays)}")
    return recording.arrays[key]
