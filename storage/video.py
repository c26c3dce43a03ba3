"""Frames to video and back through PyAV, frame for frame."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, get_args

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from .errors import ConfigError, StoreError
from .spec import Camera
from .video_access import OpenVideo

PixelFormat = Literal["gbrp", "yuv444p", "yuv420p"]
Preset = Literal["ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow"]


@dataclass(frozen=True)
class VideoCodec:
    """How frames become H.264 video.

    The default loses nothing: what is read is bit for bit what the world showed. On 64 px PushT frames that takes
    264 B/frame, less than the 300 B of LeRobot's usual yuv420p at crf 18, whose 8 px blocks are off by up to 15
    levels on average; on noisy 64 px frames it takes 4 kB. For frames of real cameras choose yuv420p and crf 18.

    Args:
        pix_fmt: `gbrp` keeps RGB as it is, `yuv444p` converts, `yuv420p` also halves the colour's resolution.
        crf: 0 (lossless with gbrp) to 51.
        frames_per_key: distance of key frames; a random read decodes half of it on average.
        preset: x264's.
        num_threads: of the encoder; 0 lets it choose.
    """

    pix_fmt: PixelFormat = "gbrp"
    crf: int = 0
    frames_per_key: int = 8
    preset: Preset = "veryfast"
    num_threads: int = 1

    @property
    def is_lossless(self) -> bool:
        """Whether what is read is bit for bit what was written."""
        return self.pix_fmt == "gbrp" and self.crf == 0

    def __post_init__(self) -> None:
        if self.pix_fmt not in get_args(PixelFormat):
            raise ConfigError(f"pix_fmt must be one of {', '.join(get_args(PixelFormat))}, got {self.pix_fmt!r}")
        if not 0 <= self.crf <= 51:
            raise ConfigError(f"crf must be in 0 .. 51, got {self.crf}")
        if self.frames_per_key < 1:
            raise ConfigError(f"frames_per_key must be 1 or more, got {self.frames_per_key}")
        if self.preset not in get_args(Preset):
            raise ConfigError(f"preset must be one of {', '.join(get_args(Preset))}, got {self.preset!r}")
        if self.num_threads < 0:
            raise ConfigError(f"num_threads must be 0 or more, got {self.num_threads}")

    def check(self, camera: Camera) -> None:
        """Raise ConfigError if this codec cannot hold the camera's frames."""
        if self.pix_fmt == "yuv420p" and (camera.height % 2 or camera.width % 2):
            raise ConfigError(
                f"yuv420p needs even sizes, camera {camera.name!r} has {camera.height} x {camera.width}; choose gbrp"
            )


@dataclass(frozen=True)
class ImageCodec:
    """Frames as PNG images beside the other columns, LeRobot's `image` mode: exact, and any frame at the same cost.

    Args:
        compress_level: zlib's, 0 (none) to 9.
    """

    compress_level: int = 1

    @property
    def is_lossless(self) -> bool:
        """Always."""
        return True

    def __post_init__(self) -> None:
        if not 0 <= self.compress_level <= 9:
            raise ConfigError(f"compress_level must be in 0 .. 9, got {self.compress_level}")

    def check(self, camera: Camera) -> None:
        """Every size fits."""


Codec = VideoCodec | ImageCodec

#: Bit for bit what the world showed.
LOSSLESS = VideoCodec()


class VideoWriter:
    """Encodes frames one after the other into an mp4 file; frame n is stamped exactly n / fps seconds."""

    def __init__(self, path: Path, camera: Camera, fps: int, codec: VideoCodec) -> None:
        self.num_frames = 0
        self._container = av.open(str(path), "w", format="mp4")
        name, self._input = ("libx264rgb", "rgb24") if codec.pix_fmt == "gbrp" else ("libx264", codec.pix_fmt)
        self._stream: Any = self._container.add_stream(name, fps, options=_options(codec))
        self._stream.pix_fmt = self._input
        self._stream.width, self._stream.height = camera.width, camera.height
        self._stream.codec_context.time_base = Fraction(1, fps)
        # One for all frames: to make one takes longer than to convert a small frame.
        self._reformatter = VideoReformatter()

    def write(self, frames: np.ndarray) -> None:
        """Append frames (T, H, W, 3) uint8 RGB."""
        for array in np.ascontiguousarray(frames):
            frame = av.VideoFrame.from_numpy_buffer(array, format="rgb24")
            if self._input != "rgb24":
                frame = self._reformatter.reformat(frame, format=self._input, interpolation="BICUBIC")
            frame.pts, frame.time_base = self.num_frames, self._stream.codec_context.time_base
            self._container.mux(self._stream.encode(frame))
            self.num_frames += 1

    def close(self) -> None:
        """Finish the file."""
        self._container.mux(self._stream.encode())
        self._container.close()


class VideoReader:
    """Decodes the episodes of one camera; going from one to the next in order, no frame is decoded twice."""

    def __init__(self, camera: Camera, fps: int) -> None:
        self._camera, self._fps = camera, fps
        self._path: Path | None = None
        self._video: OpenVideo | None = None

    def read(self, path: Path, first: int, count: int) -> np.ndarray:
        """Frames first .. first + count - 1 of a file, (count, H, W, 3) uint8 RGB.

        Raises:
            StoreError: the file is missing, damaged, too short, or its frames are not where fps puts them.
        """
        frames = np.empty((count, self._camera.height, self._camera.width, 3), np.uint8)
        try:
            video = self._open(path)
            for number in range(count):
                frames[number] = video.decode(first + number)
        except (av.error.FFmpegError, OSError, StopIteration, ValueError) as error:
            self.close()
            raise StoreError(
                f"cannot read frames {first} .. {first + count - 1} of {path} "
                f"({str(error) or 'the file ends before'}); restore the file from a copy or record it again"
            ) from error
        return frames

    def close(self) -> None:
        """Let go of the open file."""
        if self._video is not None:
            self._video.close()
        self._path = self._video = None

    def _open(self, path: Path) -> OpenVideo:
        if self._video is None or path != self._path:
            self.close()
            self._path, self._video = path, OpenVideo(path, self._fps)
        return self._video


def video_info(camera: Camera, fps: int, codec: VideoCodec) -> dict[str, Any]:
    """What LeRobot keeps of a camera's videos in `info.json`."""
    return {
        "video.height": camera.height,
        "video.width": camera.width,
        "video.codec": "h264",
        # LeRobot's editing tools encode anew with these, and know no gbrp; yuv444p is within 2 levels of it.
        "video.pix_fmt": "yuv444p" if codec.pix_fmt == "gbrp" else codec.pix_fmt,
        "video.fps": fps,
        "video.channels": 3,
        "video.g": codec.frames_per_key,
        "video.crf": codec.crf,
        "video.preset": codec.preset,
        "has_audio": False,
        "is_depth_map": False,
    }


def _options(codec: VideoCodec) -> dict[str, str]:
    return {
        "crf": str(codec.crf),
        "g": str(codec.frames_per_key),
        "bf": "0",  # in order of time, so that a reader at any key frame needs nothing after it
        "preset": codec.preset,
        "threads": str(codec.num_threads),
    }
