"""Single frames of a video file, each by a seek to the key frame before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
from av.video.reformatter import VideoReformatter

#: A frame this close ahead is decoded towards; for one farther off a seek to its key frame is worth trying.
_NEAR = 4


class OpenVideo:
    """One video file, whose frame n is stamped n / fps seconds, and the place in it up to which it is decoded."""

    def __init__(self, path: Path, fps: int) -> None:
        self._fps = fps
        self._container = av.open(str(path))
        self._stream: Any = self._container.streams.video[0]
        # Threads only pay for large frames in a row, and those of a decoder would not live on in a forked process.
        self._stream.thread_count = 1
        self._frames_per_tick = float(self._stream.time_base * fps)
        self._frames = self._container.decode(self._stream)
        self._next = 0
        # One for all frames: PyAV would set up a new conversion for each of them.
        self._reformatter = VideoReformatter()

    def decode(self, number: int) -> np.ndarray:
        """Frame `number`, (H, W, 3) uint8 RGB, not to be written to.

        Raises:
            ValueError: there is none with that stamp.
            StopIteration: the file ends before it.
            OSError: the file is damaged.
        """
        if not self._next <= number < self._next + _NEAR:
            self._seek(number)
        position = -1.0
        while round(position) < number:
            frame = next(self._frames)
            position = frame.pts * self._frames_per_tick
        self._next = number + 1
        if round(position) != number or abs(position - number) > 0.1:
            raise ValueError(
                f"found a frame at {position / self._fps:.4f} s, expected one at {number / self._fps:.4f} s"
            )
        return _pixels(self._reformatter.reformat(frame, format="rgb24"))

    def close(self) -> None:
        """Let go of the file."""
        self._container.close()

    def _seek(self, number: int) -> None:
        self._container.seek(round(number / self._fps / self._stream.time_base), stream=self._stream)
        self._frames = self._container.decode(self._stream)


def _pixels(frame: av.VideoFrame) -> np.ndarray:
    """The pixels of an RGB frame, without the copy that `to_ndarray` makes."""
    plane = frame.planes[0]
    lines = np.frombuffer(plane, np.uint8).reshape(frame.height, plane.line_size)
    return lines[:, : 3 * frame.width].reshape(frame.height, frame.width, 3)
