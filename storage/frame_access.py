"""Single frames of a stored dataset in any order, as training asks for them."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np

from .dataset import EpisodeReader


class FrameAccess(Protocol):
    """Reads frames by their number. Safe to share between threads, to fork and to pickle."""

    def frames(self, id: str, camera: str, numbers: Iterable[int]) -> Iterator[np.ndarray]:
        """Frames of one episode, each (H, W, 3) uint8 RGB and not to be written to.

        Args:
            numbers: of the frames; rising ones are read fastest.

        Raises:
            StoreError: they are not there or damaged.
        """
        ...


def open_frames(reader: EpisodeReader, cache_bytes: int = 0) -> FrameAccess:
    """Access to the frames of a dataset, whatever its format; up to `cache_bytes` of decoded ones stay in memory."""
    if (Path(reader.path) / "meta" / "info.json").is_file():
        from .lerobot_access import LeRobotFrames
        from .lerobot_reader import LeRobotReader

        return LeRobotFrames(reader if isinstance(reader, LeRobotReader) else LeRobotReader(reader.path), cache_bytes)
    from .zarr_access import ZarrFrames

    return ZarrFrames(reader.path, cache_bytes)


class ByteCache:
    """Arrays by key; when they hold more than `limit` bytes, those not asked for longest are dropped.

    Threads may share one. A forked process reads what was there and adds nothing, an unpickled one is empty and stays
    so: many workers would fill the memory many times over.
    """

    def __init__(self, limit: int) -> None:
        self.num_bytes = 0
        self._limit = limit
        self._arrays: OrderedDict[Hashable, np.ndarray] = OrderedDict()
        self._lock, self._process = threading.Lock(), os.getpid()

    def __reduce__(self) -> tuple[type[ByteCache], tuple[int]]:
        return ByteCache, (0,)

    def get(self, key: Hashable) -> np.ndarray | None:
        """The array kept under this key, if it is still there."""
        if os.getpid() != self._process:
            # Another thread of the parent may have held the lock in the moment of the fork.
            return self._arrays.get(key)
        with self._lock:
            if key in self._arrays:
                self._arrays.move_to_end(key)
            return self._arrays.get(key)

    def put(self, key: Hashable, array: np.ndarray) -> None:
        """Keep an array, unless it alone is over the limit."""
        if array.nbytes > self._limit or os.getpid() != self._process:
            return
        with self._lock:
            if key not in self._arrays:
                self._arrays[key] = array
                self.num_bytes += array.nbytes
            while self.num_bytes > self._limit:
                self.num_bytes -= self._arrays.popitem(last=False)[1].nbytes
