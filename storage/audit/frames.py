"""One pass over the frames of a LeRobot dataset: each file is decoded once, from its first frame to its last.

Frame k of an episode must be stamped `from_timestamp` + k / fps, which finds frames that are lost, added or late. A
video that is one frame off and stamped as if it were not shows in its digest, or in the mean of its pixels, where
demoloom recorded it. In a dataset of someone else nothing tells: that needs an impulse in an action while recording.
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import av
import numpy as np
import pyarrow.parquet as pq
from PIL import Image, UnidentifiedImageError

from ..stamps import TOLERANCE_S
from .contents import Contents
from .finding import Finding
from .manifest import RESTORE, Manifest, Record
from .pixels import Pixels
from .row_checks import REPLACE
from .tally import Fault, Tally
from .values import UNREADABLE

_IMAGES_AT_ONCE = 16


class FramePass:
    """Reads the frames of one camera, its files one after the other.

    Attributes:
        pixels: of all episodes whose frames are all there.
        is_whole: whether those of every episode are, once `count` was called.
    """

    def __init__(self, manifest: Manifest, key: str, contents: Contents, tally: Tally) -> None:
        self.pixels = Pixels()
        self.is_whole = True
        self._manifest = manifest
        self._key = key
        self._shape = _size(manifest.features[key])
        self._contents = contents
        self._tally = tally
        self._seen: Counter[int] = Counter()
        self._where: dict[int, str] = {}

    def files(self) -> dict[str, list[Record]]:
        """Video files, and the episodes in each by time."""
        found: dict[str, list[Record]] = defaultdict(list)
        for record in self._manifest.records:
            found[record.spans[self._key].file].append(record)
        return {
            file: sorted(records, key=lambda record: record.spans[self._key].start_s)
            for file, records in found.items()
            if (self._manifest.path / file).is_file()
        }

    def read_video(self, file: str, records: list[Record]) -> Iterator[Finding]:
        """Decode a file, give each frame to its episode, and yield the episodes with too few or too many."""
        places = _Places(records, [round(record.spans[self._key].start_s * self._manifest.fps) for record in records])
        fault = ""
        try:
            for number, late, frame in _decode(self._manifest.path / file, self._manifest.fps):
                record, step = places.find(number)
                if record is not None:
                    self._keep(record, step, frame)
                    if late:
                        self._tally.add(record.id, [Fault(self._key, f"frame {step} {late}", _RETIME)])
        except (av.FFmpegError, OSError, ValueError, IndexError) as error:
            fault = f", then {file} does not decode ({error})"
        for record in records:
            self._where[record.number] = f" in {file}{fault}"
        for record, extra in places.extra():
            message = f"{extra} of the frames of {file} beside its own belong to no episode; {REPLACE}"
            yield Finding(field=self._key, message=message, episode=record.id)

    def read_images(self) -> Iterator[Finding]:
        """Decode the images that lie in the rows."""
        for file in sorted({record.data_file for record in self._manifest.records}):
            if not (self._manifest.path / file).is_file():
                continue
            self._where |= {one.number: f" in {file}" for one in self._manifest.records if one.data_file == file}
            try:
                self._read_image_file(file)
            except UNREADABLE as error:
                yield Finding(field=self._key, message=f"the images in {file} cannot be read ({error}); {RESTORE}")

    def count(self) -> Iterator[Finding]:
        """After the last file: episodes of which frames were not found."""
        for record in self._manifest.records:
            if self._seen[record.number] != record.length:
                self.is_whole = False
                self.pixels.forget(record.number)
                self._contents.forget(record.id)
                # A file that is missing is named as such.
                if (where := self._where.get(record.number)) is not None:
                    message = f"{self._seen[record.number]} of the frames of its {record.length} rows were found{where}"
                    yield Finding(field=self._key, message=f"{message}; {REPLACE}", episode=record.id)

    def _read_image_file(self, file: str) -> None:
        records = {record.number: record for record in self._manifest.records}
        steps: Counter[int] = Counter()
        parquet = pq.ParquetFile(self._manifest.path / file)
        for batch in parquet.iter_batches(_IMAGES_AT_ONCE, columns=[self._key, "episode_index"]):
            for number, image in zip(batch["episode_index"].to_pylist(), batch[self._key].to_pylist(), strict=True):
                if number in records:
                    self._keep_image(records[number], steps[number], image)
                    steps[number] += 1

    def _keep_image(self, record: Record, step: int, image: dict[str, bytes]) -> None:
        try:
            frame = np.asarray(Image.open(io.BytesIO(image["bytes"])))
        except (OSError, UnidentifiedImageError, TypeError) as error:
            what = f"the image of row {step} does not decode ({error})"
            self._tally.add(record.id, [Fault(self._key, what, RESTORE)])
            return
        self._keep(record, step, frame)

    def _keep(self, record: Record, step: int, frame: np.ndarray) -> None:
        self._tally.frames += 1
        self._seen[record.number] += 1
        if frame.shape[:2] != self._shape or frame.dtype != np.uint8:
            hint = " (channels first)" if frame.shape[1:] == self._shape else ""
            what = f"frame {step} is {frame.shape} {frame.dtype}{hint}, meta/info.json declares {self._shape} pixels"
            self._tally.add(record.id, [Fault(self._key, what, "correct the shape or record anew")])
        if frame.ndim == 3 and frame.shape[2] == 3 and frame.dtype == np.uint8:
            self.pixels.add(record.number, frame)
        self._contents[record.id].add(self._key, frame[None])


def _size(feature: Mapping[str, Any]) -> tuple[int, ...]:
    """Height and width of a camera's frames; LeRobot declares them with channels last or first, and names the axes."""
    names = feature.get("names")
    sizes = dict(zip(map(str, names), feature["shape"], strict=False)) if isinstance(names, list) else {}
    if "height" in sizes and "width" in sizes:
        return sizes["height"], sizes["width"]
    return tuple(feature["shape"][:2])


_RETIME = "encode the video anew at the rate in meta/info.json, or correct that rate"


class _Places:
    """Says of each frame of a file which episode it belongs to, given in rising order."""

    def __init__(self, records: list[Record], firsts: list[int]) -> None:
        self._records = records
        self._firsts = firsts
        self._at = 0
        # By the place of the episode before them (or the first).
        self._extra: Counter[int] = Counter()

    def find(self, number: int) -> tuple[Record | None, int]:
        """The episode and the step in it of the file's frame `number`; None if it is in no episode."""
        while self._at + 1 < len(self._records) and number >= self._firsts[self._at + 1]:
            self._at += 1
        record, step = self._records[self._at], number - self._firsts[self._at]
        if not 0 <= step < record.length:
            self._extra[self._at] += 1
            return None, step
        return record, step

    def extra(self) -> Iterator[tuple[Record, int]]:
        """Each episode that has frames in none after its own (or before, if it is the first), and how many."""
        return ((self._records[at], count) for at, count in self._extra.items())


def _decode(path: object, fps: int) -> Iterator[tuple[int, str, np.ndarray]]:
    """Yield number, what is wrong with its stamp (or nothing) and pixels (H, W, 3) of each frame of a video."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        if stream.codec_context is None:
            raise ValueError("its codec is not known")
        # Without this a decoder makes up what it cannot read.
        stream.codec_context.options = {"err_detect": "explode"}
        stream.thread_type = "AUTO"
        tolerance = TOLERANCE_S + float(stream.time_base or 0)
        for frame in container.decode(stream):
            if frame.is_corrupt or frame.time is None:
                raise ValueError(f"the frame after {frame.time} s is damaged")
            number = round(frame.time * fps)
            late = abs(frame.time - number / fps) > tolerance
            what = f"is stamped {frame.time:.4f} s in its file, at {fps} fps that is between two frames" if late else ""
            yield number, what, frame.to_ndarray(format="rgb24")
