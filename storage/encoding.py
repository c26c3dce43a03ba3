"""Frames on their way into a file, encoded while more of them come."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
from PIL import Image

from .errors import StoreError
from .norm_stats import pixel_histogram
from .spec import Camera
from .video import Codec, ImageCodec, VideoWriter

#: Frames are handed to an encoder in blocks of this size or more: a switch of threads for each small one costs more
#: than to encode it.
_BLOCK_BYTES = 1 << 20
#: Blocks that wait for an encoder at most.
_QUEUE_BLOCKS = 4
#: Rows of a row group where images lie in the rows.
IMAGES_PER_GROUP = 64


class FrameWriter(Protocol):
    """What encodes the frames of one camera."""

    @property
    def num_frames(self) -> int:
        """Frames written."""
        ...

    def write(self, frames: np.ndarray) -> None:
        """Append frames (T, H, W, 3) uint8 RGB."""
        ...

    def close(self) -> None:
        """Finish the file."""
        ...


class ImageWriter:
    """A file of PNG images, one after the other."""

    def __init__(self, path: Path, codec: ImageCodec) -> None:
        self._path = path
        self._file = path.open("wb")
        self._codec = codec
        self._sizes: list[int] = []

    @property
    def num_frames(self) -> int:
        """Frames written."""
        return len(self._sizes)

    def write(self, frames: np.ndarray) -> None:
        """Append frames (T, H, W, 3) uint8 RGB."""
        for frame in frames:
            buffer = BytesIO()
            Image.fromarray(frame).save(buffer, "PNG", compress_level=self._codec.compress_level)
            self._sizes.append(self._file.write(buffer.getbuffer()))

    def close(self) -> None:
        """Finish the file."""
        self._file.close()

    def images(self) -> Iterator[pa.Array]:
        """The images in blocks, as LeRobot keeps them in a column."""
        with self._path.open("rb") as file:
            for start in range(0, len(self._sizes), IMAGES_PER_GROUP):
                block = [file.read(size) for size in self._sizes[start : start + IMAGES_PER_GROUP]]
                yield pa.array([{"bytes": image, "path": None} for image in block], IMAGE_TYPE)


#: LeRobot's column of images.
IMAGE_TYPE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def frame_writer(path: Path, camera: Camera, fps: int, codec: Codec) -> FrameWriter:
    """What encodes a camera's frames to the file at `path`."""
    return ImageWriter(path, codec) if isinstance(codec, ImageCodec) else VideoWriter(path, camera, fps, codec)


class QueuedWriter:
    """Encodes in a thread of its own, so that a world or a robot goes on meanwhile; a full queue makes `write` wait.

    Nothing is ever dropped: an error of the encoder is raised by the next `write` or by `close`.
    """

    def __init__(self, writer: FrameWriter) -> None:
        self.histogram = np.zeros((3, 256), np.int64)
        self._writer = writer
        self._block: list[np.ndarray] = []
        self._block_bytes = 0
        self._queue: queue.Queue[np.ndarray | None] = queue.Queue(_QUEUE_BLOCKS)
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def write(self, frames: np.ndarray) -> None:
        """Append a copy of the frames (T, H, W, 3) uint8 RGB."""
        self._raise_error()
        self._block.append(frames.copy())
        self._block_bytes += frames.nbytes
        if self._block_bytes >= _BLOCK_BYTES:
            self._hand_on()

    def close(self) -> None:
        """Wait until all is encoded and finish the file."""
        self._hand_on()
        self._finish()
        self._raise_error()

    def abandon(self) -> None:
        """Stop without encoding what waits."""
        # Not raised: with its traceback it would keep the caller's rows alive until the next garbage collection.
        self._error = self._error or StoreError("the episode was discarded")
        self._finish()

    def _finish(self) -> None:
        if self._thread.is_alive():
            self._queue.put(None)
            self._thread.join()

    def _hand_on(self) -> None:
        if self._block:
            self._queue.put(np.concatenate(self._block) if len(self._block) > 1 else self._block[0])
            self._block, self._block_bytes = [], 0

    def _work(self) -> None:
        while (frames := self._queue.get()) is not None:
            if self._error is None:
                self._attempt(frames)
        try:
            self._writer.close()
        except BaseException as error:  # raised again in the caller's thread
            self._error = self._error or error

    def _attempt(self, frames: np.ndarray) -> None:
        try:
            self._writer.write(frames)
            self.histogram += pixel_histogram(frames)
        except BaseException as error:  # raised again in the caller's thread; the queue is emptied without it
            self._error = error

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error
