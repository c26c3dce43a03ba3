"""A frame as it goes over the line: the length of a header, the header in JSON, then one JPEG for each view."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np

from ...storage.errors import ConfigError
from ..driving import Seen
from .hand import Held

#: Below, noise around edges shows on small frames drawn large.
_QUALITY = 98

Kind = Literal["imagined", "reality"]


def frame_bytes(tick: int, seen: Seen, held: Held, kind: Kind = "imagined") -> bytes:
    """The binary message that shows `seen`.

    Args:
        tick: number of the message, which the page acknowledges.
        seen: what there is to see.
        held: what was held in the step that led here.
        kind: of the world that is driven.
    """
    views = list(_views(seen, kind))
    header = {
        "tick": tick,
        "step": seen.step,
        "length": seen.length,
        "seq": held.seq,
        "t": held.t_ms,
        "score": round(seen.score, 4),
        "success": seen.success,
        "trust": round(seen.trust, 4),
        "views": [{"camera": camera, "world": world, "size": len(data)} for camera, world, data in views],
    }
    text = json.dumps(header).encode()
    return b"".join([struct.pack(">I", len(text)), text, *(data for _, _, data in views)])


def parse_frame(message: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The header and the JPEGs of a binary message, for clients that are no page; inverse of `frame_bytes`."""
    (length,) = struct.unpack_from(">I", message)
    header = json.loads(message[4 : 4 + length])
    start, pictures = 4 + length, []
    for view in header["views"]:
        pictures.append(message[start : start + view["size"]])
        start += view["size"]
    return header, pictures


def jpeg(frame: np.ndarray) -> bytes:
    """A frame (H, W, 3) uint8 RGB as JPEG, with colours as sharp as edges: small frames live of them."""
    import cv2

    how = [cv2.IMWRITE_JPEG_QUALITY, _QUALITY, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444]
    done, encoded = cv2.imencode(".jpg", np.ascontiguousarray(frame[..., ::-1]), how)
    if not done:
        raise ConfigError(f"a frame of shape {frame.shape} cannot be encoded as JPEG")
    return encoded.tobytes()


def _views(seen: Seen, kind: Kind) -> Iterator[tuple[str, str, bytes]]:
    for world, frames in ((kind, seen.frames), ("reality", seen.reality or {})):
        for camera, frame in frames.items():
            yield camera, world, jpeg(frame)
