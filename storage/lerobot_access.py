"""Single frames of a LeRobot dataset in any order, from files that stay open."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import av
import numpy as np

from .byte_cache import ByteCache
from .columns import image_key
from .errors import StoreError
from .image_access import OpenImages
from .lerobot_reader import LeRobotReader
from .video_access import OpenVideo

#: Opening a file takes as long as decoding 40 frames of 96 px; each holds a file descriptor and a decoder's frames.
_MAX_OPEN = 16


class OpenFile(Protocol):
    """A file of one camera's frames."""

    def decode(self, number: int) -> np.ndarray:
        """Frame `number`, (H, W, 3) uint8 RGB; ValueError, StopIteration or OSError if it is not there."""
        ...

    def close(self) -> None:
        """Let go of the file."""
        ...


class LeRobotFrames:
    """A FrameAccess to a LeRobot dataset, whether it keeps videos or images.

    Args:
        reader: of the dataset.
        cache_bytes: of decoded frames to keep.
    """

    def __init__(self, reader: LeRobotReader, cache_bytes: int = 0) -> None:
        self._fps = reader.spec.fps
        names = [camera.name for camera in reader.spec.cameras]
        self._places = {(id, name): reader.frame_place(id, name) for id in reader.ids() for name in names}
        self._frames = ByteCache(cache_bytes)
        self._start()

    def _start(self) -> None:
        # A forked process shares the file positions of its parent: it must open its own, and take its own lock.
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._open: OrderedDict[tuple[Path, str], OpenFile] = OrderedDict()

    def __getstate__(self) -> dict[str, Any]:
        shared = ("_fps", "_places", "_frames")
        return {name: self.__dict__[name] for name in shared}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._start()

    def frames(self, id: str, camera: str, numbers: Iterable[int]) -> Iterator[np.ndarray]:
        """Frames of one episode, each (H, W, 3) uint8 RGB; StoreError if they are not there or damaged."""
        if os.getpid() != self._process:
            self._start()
        path, first = self._places[id, camera]
        for number in numbers:
            with self._lock:
                frame = self._frame(path, camera, first + number)
            yield frame

    def _frame(self, path: Path, camera: str, number: int) -> np.ndarray:
        frame = self._frames.get((path, camera, number))
        if frame is None:
            frame = self._decode(path, camera, number)
            self._frames.put((path, camera, number), frame)
        return frame

    def _decode(self, path: Path, camera: str, number: int) -> np.ndarray:
        try:
            return self._file(path, camera).decode(number)
        except (av.error.FFmpegError, OSError, StopIteration, ValueError) as error:
            if (path, camera) in self._open:
                self._open.pop((path, camera)).close()
            raise StoreError(
                f"cannot read frame {number} of {path} ({str(error) or 'the file ends before'}); "
                "restore the file from a copy or record it again"
            ) from error

    def _file(self, path: Path, camera: str) -> OpenFile:
        if (path, camera) not in self._open:
            if len(self._open) >= _MAX_OPEN:
                self._open.popitem(last=False)[1].close()
            is_video = path.suffix == ".mp4"
            self._open[path, camera] = OpenVideo(path, self._fps) if is_video else OpenImages(path, image_key(camera))
        self._open.move_to_end((path, camera))
        return self._open[path, camera]
