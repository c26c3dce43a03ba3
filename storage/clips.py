"""Encoded frames that go from one dataset to another as they are: nothing is lost, however they were encoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .dataset import EpisodeReader
from .errors import StoreError

if TYPE_CHECKING:
    from .video import Codec

# As in lerobot_layout, which takes long to import where there is only Zarr.
_CODEC = "meta/demoloom/codec.json"


@dataclass(frozen=True)
class Clip:
    """The encoded frames of one camera in an episode.

    Args:
        path: of the video file, which may hold other episodes too.
        first: which of its frames is the episode's first.
        count: number of frames.
        fps: of the file.
        codec: how they are encoded.
    """

    path: Path
    first: int
    count: int
    fps: int
    codec: Codec


class ClipWriter:
    """A `FrameWriter` that takes over a clip; the frames it is handed, which are the clip's decoded, it only counts.

    Args:
        path: of the file to write.
        clip: whose first frame must be a key frame.
        fps: of the new file.
    """

    def __init__(self, path: Path, clip: Clip, fps: int) -> None:
        self.num_frames = 0
        self._path = path
        self._clip = clip
        self._fps = fps

    def write(self, frames: np.ndarray) -> None:
        """Count frames (T, H, W, 3)."""
        self.num_frames += len(frames)

    def close(self) -> None:
        """Write the file; StoreError if the clip is not where it should be."""
        import av

        with av.open(str(self._clip.path)) as there, av.open(str(self._path), "w", format="mp4") as new:
            template: Any = there.streams.video[0]
            stream = new.add_stream_from_template(template, opaque=True)
            stream.time_base = template.time_base
            count = 0
            for packet in _packets(there, self._clip):
                packet.pts = packet.dts = round(count / self._fps / packet.time_base)
                packet.stream = stream
                new.mux(packet)
                count += 1
        if count != self._clip.count:
            raise StoreError(
                f"{self._clip.path} has {count} frames from {self._clip.first} on that can be copied, expected "
                f"{self._clip.count}; `demoloom validate` says which episodes are whole"
            )


def kept_codec(sources: Sequence[EpisodeReader]) -> Codec | None:
    """The codec of all sources, where they are LeRobot datasets of demoloom's that share one."""
    if not all((source.path / _CODEC).is_file() for source in sources):
        return None
    from .lerobot_layout import read_codec

    codecs = {read_codec(source.path) for source in sources}
    return codecs.pop() if len(codecs) == 1 else None


def clips_of(source: EpisodeReader, id: str) -> dict[str, Clip]:
    """The clip of each camera of a stored episode; none where its frames are no video that demoloom encoded."""
    codec = kept_codec([source])
    if codec is None:
        return {}
    from .lerobot_reader import LeRobotReader
    from .video import VideoCodec

    if not isinstance(source, LeRobotReader) or not isinstance(codec, VideoCodec):
        return {}
    count, fps = source.summary(id).length, source.spec.fps
    places = {camera.name: source.frame_place(id, camera.name) for camera in source.spec.cameras}
    return {name: Clip(path, first, count, fps, codec) for name, (path, first) in places.items()}


def _packets(container: Any, clip: Clip) -> Iterator[Any]:
    """The packets of the clip; none if the first is no key frame."""
    stream = container.streams.video[0]
    if clip.first:
        container.seek(round(clip.first / clip.fps / stream.time_base), stream=stream)
    begun = False
    for packet in container.demux(stream):
        # The last packet that PyAV gives is an empty one, which flushes a decoder.
        number = -1 if packet.pts is None else round(packet.pts * packet.time_base * clip.fps)
        if number >= clip.first + clip.count:
            return
        begun = begun or (number == clip.first and packet.is_keyframe)
        if begun and number >= clip.first:
            yield packet
