"""Frames of kept takes as JPEG, a block of rows at a time: a player asks for one after the other."""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np

from ...storage.drafts import rows_per_block
from ...storage.errors import StoreError
from ..driving import KeptTakes
from .framing import jpeg

#: Rows of a block, fewer where their frames are large.
_MOST_ROWS = 32
#: Blocks in memory, of a few megabytes each.
_MOST_BLOCKS = 8


class TakePictures:
    """Reads frames of takes; any thread may ask."""

    def __init__(self, takes: KeptTakes) -> None:
        self._takes = takes
        self._num_rows = min(_MOST_ROWS, rows_per_block(takes.spec))
        self._lock = threading.Lock()
        self._blocks: OrderedDict[tuple[str, str, int], np.ndarray] = OrderedDict()

    def jpeg(self, id: str, step: int, camera: str | None) -> bytes:
        """The frame of a take at a step, by the first camera if none is named.

        Raises:
            StoreError: there is no such take, step or camera.
        """
        names = [one.name for one in self._takes.spec.cameras]
        if camera is not None and camera not in names:
            raise StoreError(f"there is no camera {camera!r}; there are {', '.join(names)}")
        with self._lock:
            frames = self._block(id, camera or names[0], step // self._num_rows)
        at = step % self._num_rows
        if at >= len(frames):
            raise StoreError(f"take {id!r} has no step {step}")
        return jpeg(frames[at])

    def forget(self, id: str) -> None:
        """A take was deleted."""
        with self._lock:
            for key in [key for key in self._blocks if key[0] == id]:
                del self._blocks[key]

    def _block(self, id: str, camera: str, number: int) -> np.ndarray:
        key = (id, camera, number)
        if key not in self._blocks:
            length, start = self._takes.summary(id).length, number * self._num_rows
            if start >= length:
                raise StoreError(f"take {id!r} has {length} steps")
            rows = self._takes.rows(id, start, min(length, start + self._num_rows))
            self._blocks[key] = rows.images[camera]
        self._blocks.move_to_end(key)
        while len(self._blocks) > _MOST_BLOCKS:
            self._blocks.popitem(last=False)
        return self._blocks[key]
