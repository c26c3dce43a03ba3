"""Episodes as pictures inside a page: animated previews and strips, as data URIs."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
from PIL import Image

from ...storage.episode import Episode

#: Frames of one preview at most; of longer episodes every second frame is shown, or every third, for as long.
MAX_FRAMES = 100
#: How long the last frame of a preview stays, in ms, so that one sees how an episode ended.
LAST_FRAME_MS = 1500


def preview(episode: Episode, frame_ms: int = 60) -> str:
    """A looping animated WebP of the first camera, lossless, at the size it was recorded; `frame_ms` a step."""
    frames = first_camera(episode)
    stride = -(-len(frames) // MAX_FRAMES)
    chosen = frames[::stride]
    images = [Image.fromarray(frame) for frame in [*chosen, frames[-1]]]
    durations = [frame_ms * stride] * len(chosen) + [LAST_FRAME_MS]
    buffer = io.BytesIO()
    images[0].save(
        buffer, "WEBP", save_all=True, append_images=images[1:], duration=durations, loop=0, lossless=True, method=0
    )
    return data_uri(buffer.getvalue(), "image/webp")


def strip(episode: Episode, num_frames: int = 10) -> str:
    """A PNG of frames spread evenly over an episode, the first and the last among them, side by side on nothing."""
    frames = first_camera(episode)
    chosen = frames[np.linspace(0, len(frames) - 1, num_frames).round().astype(int)]
    opaque = [np.pad(frame, ((0, 0), (0, 0), (0, 1)), constant_values=255) for frame in chosen]
    gap = np.zeros((frames.shape[1], 2, 4), np.uint8)
    pieces = [piece for frame in opaque for piece in (frame, gap)][:-1]
    buffer = io.BytesIO()
    Image.fromarray(np.concatenate(pieces, axis=1)).save(buffer, "PNG", optimize=True)
    return data_uri(buffer.getvalue(), "image/png")


def picture_file(path: Path) -> str | None:
    """A PNG file as a data URI, or None where there is none."""
    return data_uri(path.read_bytes(), "image/png") if path.exists() else None


def first_camera(episode: Episode) -> np.ndarray:
    """(T, H, W, 3) uint8."""
    return next(iter(episode.images.values()))


def data_uri(content: bytes, media_type: str) -> str:
    """`data:` with the content in base64."""
    return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
