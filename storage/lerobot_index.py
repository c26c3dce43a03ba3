"""Which episodes a LeRobot dataset written by demoloom counts, kept up with while others add to it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from . import lerobot_layout as layout
from .atomic import read_json
from .errors import StoreError


class LeRobotIndex:
    """The ids, digests and tasks of the episodes that `meta/info.json` counts.

    Attributes:
        digests: id of each episode, in order -> its digest.
        tasks: text of each task -> LeRobot's `task_index`, in the order in which they were first met.
        num_rows: of all episodes.
    """

    def __init__(self, path: Path, num_cameras: int) -> None:
        self.digests: dict[str, str] = {}
        self.tasks: dict[str, int] = {}
        self.num_rows = 0
        self._path = path
        self._num_cameras = num_cameras
        self._offset = 0
        self._seen: tuple[int, int] | None = None

    def refresh(self, trust_clock: bool = True) -> None:
        """Take in what was added since; StoreError if the files do not fit together.

        Args:
            trust_clock: pass over a file which looks unchanged; where a clock ticks in seconds, one that another
                writer has just replaced may.
        """
        found = self._stat()
        if trust_clock and (found.st_ino, found.st_mtime_ns) == self._seen:
            return
        info = read_json(self._path / layout.INFO)
        self._read_lines(info["total_episodes"] - len(self.digests))
        self.num_rows = info["total_frames"]
        self._seen = found.st_ino, found.st_mtime_ns

    def _stat(self) -> os.stat_result:
        try:
            return os.stat(self._path / layout.INFO)
        except OSError as error:
            raise StoreError(
                f"{self._path / layout.INFO} is gone ({error.strerror}); restore it from a copy"
            ) from error

    def append_line(self, line: dict[str, Any]) -> None:
        """Write the line of an episode that is about to be counted, over what a killed writer may have left."""
        with (self._path / layout.SIDECAR_EPISODES).open("r+b") as file:
            file.truncate(self._offset)
            file.seek(self._offset)
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def pixels(self) -> np.ndarray:
        """(cameras, 3, 256) int64 counts over all frames."""
        if self.num_rows == 0:
            return np.zeros((self._num_cameras, 3, 256), np.int64)
        file = self._path / layout.SIDECAR_PIXELS.format(num_rows=self.num_rows)
        try:
            return np.asarray(np.load(file))
        except (OSError, ValueError) as error:
            raise StoreError(
                f"cannot read {file} ({error}); `demoloom convert` the dataset to a new one to count its pixels again"
            ) from error

    def _read_lines(self, count: int) -> None:
        file = self._path / layout.SIDECAR_EPISODES
        try:
            lines = file.open("rb")
        except OSError as error:
            raise StoreError(f"cannot read {file} ({error.strerror}); restore it from a copy") from error
        with lines:
            lines.seek(self._offset)
            for _ in range(count):
                line = lines.readline()
                self._offset += len(line)
                self._take_in(line, file)

    def _take_in(self, line: bytes, file: Path) -> None:
        try:
            found = json.loads(line)
            self.digests[found["id"]] = found["digest"]
            self.tasks.setdefault(found["task"], len(self.tasks))
        except (ValueError, KeyError) as error:
            raise StoreError(
                f"{file} has fewer whole lines than meta/info.json counts episodes; restore it from a copy, or "
                "`demoloom validate --repair` the dataset"
            ) from error
