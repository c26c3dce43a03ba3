"""How long something has been worked on, over all tries."""

from __future__ import annotations

import json
import time
from pathlib import Path

from ...storage.atomic import write_json

#: What a killed try loses of its time at most.
SAVE_INTERVAL_S = 10.0


class Stopwatch:
    """Runs from now on, from the time that an earlier try left in a file.

    Args:
        path: the file, written now and then; None: begin at zero and keep nothing.

    Raises:
        StoreError: the file cannot be written.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._before = _read(path)
        self._started = self._saved = time.monotonic()

    def seconds(self) -> float:
        """All time so far, this try's and those before it."""
        now = time.monotonic()
        total = self._before + now - self._started
        if self._path is not None and now - self._saved >= SAVE_INTERVAL_S:
            self._saved = now
            write_json(self._path, {"seconds": round(total, 1)})
        return total


def _read(path: Path | None) -> float:
    if path is None or not path.exists():
        return 0.0
    return float(json.loads(path.read_text())["seconds"])
