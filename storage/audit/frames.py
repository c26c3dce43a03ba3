"""One pass over the frames of a LeRobot dataset: each file is decoded once, from its first frame to its last.

Frame k of an episode must be stamped `from_timestamp` + k / fps, which finds frames that are lost, added or late. A
video that is one frame off and stamped as if it were not shows in its digest, or in the mean of its pixels, where
demoloom recorded it. In a dataset of someone else nothing tells: that needs an impulse in an action while recording.
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Iterator

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, UnidentifiedImageError

from .contents import Contents
from .finding import Finding
from .manifest import RESTORE, Manifest, Record
from .pixels import Pixels
from .row_checks import REPLACE, TOLERANCE_S
from .tally import Fault, Tally

_IMAGES_AT_ONCE = 16


class FramePass:
    """Reads the frames of one camera, its files one after the other."""

    def __init__(self, manifest: Manifest, key: str, contents: Contents, tally: Tally) -> None:
        self.pixels = Pixels()
        self._manifest = manifest
        self._key = key
        self._shape = tuple(manifest.features[key]["shape"])
        self._contents = contents
        self._tally = tally

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
                        self._tally.add(record.id, iter([Fault(self._key, f"frame {step} {late}", _RETIME)]))
        except (OSError, ValueError, StopIteration, IndexError) as error:
            fault = f", then {file} does not decode ({error})"
        yield from self._miscounted(places, file, fault)

    def read_images(self) -> Iterator[Finding]:
        """Decode the images that lie in the rows."""
        for file in sorted({record.data_file for record in self._manifest.records}):
            try:
                self._read_image_file(file)
            except (OSError, KeyError, pa.ArrowException) as error:
                yield Finding(field=self._key, message=f"the images in {file} cannot be read ({error}); {RESTORE}")

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
            self._tally.add(record.id, iter([Fault(self._key, what, RESTORE)]))
            return
        self._keep(record, step, frame)

    def _keep(self, record: Record, step: int, frame: np.ndarray) -> None:
        self._tally.frames += 1
        if frame.shape != self._shape or frame.dtype != np.uint8:
            what = f"frame {step} is {frame.shape} {frame.dtype}, meta/info.json declares {self._shape}"
            hint = " (channels first)" if frame.shape == (self._shape[2], *self._shape[:2]) else ""
            self._tally.add(record.id, iter([Fault(self._key, what + hint, "correct the shape or record anew")]))
        if frame.ndim == 3 and frame.shape[2] == 3 and frame.dtype == np.uint8:
            self.pixels.add(record.number, frame)
        self._contents[record.id].add(self._key, frame[None])

    def _miscounted(self, places: _Places, file: str, fault: str) -> Iterator[Finding]:
        for record in places.records:
            found = places.count[record.number]
            if found != record.length:
                message = f"{found} of the frames of its {record.length} rows were found in {file}{fault}; {REPLACE}"
                yield Finding(field=self._key, message=message, episode=record.id)
        for number, extra in places.extra.items():
            id = next(record.id for record in places.records if record.number == number)
            message = f"{extra} frames of {file} beside those of its rows belong to no episode; {REPLACE}"
            yield Finding(field=self._key, message=message, episode=id)


_RETIME = "encode the video anew at the rate in meta/info.json, or correct that rate"


class _Places:
    """Says of each frame of a file which episode it belongs to, given in rising order."""

    def __init__(self, records: list[Record], firsts: list[int]) -> None:
        self.records = records
        self.count: Counter[int] = Counter()
        #: Frames that are in no range, under the episode before them (or the first).
        self.extra: Counter[int] = Counter()
        self._firsts = firsts
        self._at = 0

    def find(self, number: int) -> tuple[Record | None, int]:
        """The episode and the step in it of the file's frame `number`; None if it is in no episode."""
        while self._at + 1 < len(self.records) and number >= self._firsts[self._at + 1]:
            self._at += 1
        record, step = self.records[self._at], number - self._firsts[self._at]
        if not 0 <= step < record.length:
            self.extra[record.number] += 1
            return None, step
        self.count[record.number] += 1
        return record, step


def _decode(path: object, fps: int) -> Iterator[tuple[int, str, np.ndarray]]:
    """Yield number, what is wrong with its stamp (or nothing) and pixels (H, W, 3) of each frame of a video."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
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
