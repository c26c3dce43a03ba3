"""Datasets whose rows are not stamped row / fps, as re-timing reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa

from ..dataset import EpisodeReader, open_dataset
from ..errors import StoreError
from ..lerobot_layout import INFO
from ..lerobot_reader import LeRobotReader
from ..spec import Camera


def open_uneven(path: Path | str) -> EpisodeReader:
    """Open the dataset at `path` whatever its timestamps say; a Zarr store has none of its own.

    Raises:
        StoreError: there is no dataset, or one of a version that cannot be read.
    """
    path = Path(path)
    return UnevenReader(path) if (path / INFO).is_file() else open_dataset(path)


class UnevenReader(LeRobotReader):
    """A LeRobot dataset at any stamps: the frames of an episode are taken in their order, one for each row."""

    def __init__(self, path: Path | str) -> None:
        super().__init__(path)
        self._in_order = {key: OrderedVideo(camera) for key, camera in self._cameras.items()}

    def timestamps(self, id: str) -> np.ndarray:
        """When each row of an episode was recorded: (T,) float64, seconds from its first row; StoreError as `read`."""
        times = self._rows(self._number(id))["timestamp"].to_numpy().astype(np.float64)
        return times - times[0]

    def _check_times(self, number: int, rows: pa.Table) -> None:
        """They may be anything."""

    def _frames(self, number: int, key: str, start: int, stop: int) -> np.ndarray:
        if self._features[key]["dtype"] == "image":
            return super()._frames(number, key, start, stop)
        path, _ = self._frame_place(number, key)
        record = self._records[number]
        span = (record[f"videos/{key}/from_timestamp"], record[f"videos/{key}/to_timestamp"])
        return self._in_order[key].read(path, span, start, stop)


class OrderedVideo:
    """Decodes the episodes of one camera by the order of their frames, not by time."""

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self._container: Any = None
        self._place: tuple[Path, tuple[float, float]] | None = None
        self._frames: Any = None
        self._next = 0

    def read(self, path: Path, span: tuple[float, float], start: int, stop: int) -> np.ndarray:
        """Frames start .. stop - 1 of those that a file shows in a span of seconds, (count, H, W, 3) uint8 RGB.

        Raises:
            StoreError: the file is missing or damaged, or has fewer frames there.
        """
        frames = np.empty((stop - start, self._camera.height, self._camera.width, 3), np.uint8)
        try:
            if (path, span) != self._place or start < self._next:
                self._seek(path, span)
            for number in range(self._next, stop):
                frame = next(self._frames)
                if number >= start:
                    frames[number - start] = frame.to_ndarray(format="rgb24")
        except (OSError, StopIteration, ValueError) as error:
            self.close()
            raise StoreError(
                f"cannot read frames {start} .. {stop - 1} from {span[0]:.4f} s on of {path} "
                f"({str(error) or 'there are fewer'}); `demoloom validate` says which episodes are whole"
            ) from error
        self._next = stop
        return frames

    def close(self) -> None:
        """Let go of the open file."""
        if self._container is not None:
            self._container.close()
        self._container = self._place = self._frames = None

    def _seek(self, path: Path, span: tuple[float, float]) -> None:
        self.close()
        self._container = av.open(str(path))
        stream = self._container.streams.video[0]
        # Half a frame of the video's own rate: spans are float sums, and need not be exact.
        early = 0.5 / float(stream.average_rate)
        if span[0] > early:
            self._container.seek(round((span[0] - early) / stream.time_base), stream=stream)
        decoded = self._container.decode(stream)
        self._frames = (frame for frame in decoded if span[0] - early <= frame.time < span[1] - early)
        self._place, self._next = (path, span), 0
