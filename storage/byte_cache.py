"""Arrays that were read, kept in memory up to a limit."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Hashable

import numpy as np


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
