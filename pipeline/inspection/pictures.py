"""Episodes inside a page, as data URIs: a film that plays, and a strip of stills."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image

from ...storage.dataset import EpisodeReader
from ...storage.drafts import block_ranges, rows_per_block
from ...storage.episode import EpisodeSummary
from ...storage.spec import Camera, EpisodeSpec
from ..report.pictures import data_uri
from .tiles import Tiles

#: Frames of a film at most; of longer episodes every second frame is shown, or every third, so that it plays faster.
MOST_FRAMES = 300
#: From so many rows on it costs less to read the frames that are shown one by one than all of them.
SKIP_ROWS = 16
#: Longer side of a camera's frame in px.
FILM_SIDE, STILL_SIDE = 320, 128
#: Of H.264: 18 cannot be told from the original, 51 is the worst.
CRF = 26
_GAP_PX = 2


@dataclass(frozen=True)
class Picture:
    """Something to show of an episode.

    Args:
        source: a data URI.
        width: in px.
        height: in px.
        speed: how many times faster than it happened a film plays.
        poster: what stands in a film's place until it plays, as a data URI.
    """

    source: str
    width: int
    height: int
    speed: int = 1
    poster: str = ""


def film(reader: EpisodeReader, summary: EpisodeSummary) -> Picture:
    """All cameras of an episode side by side as H.264 video, at the rate it was recorded with.

    Raises:
        StoreError: the episode is damaged.
    """
    from ...storage.video import VideoCodec, VideoWriter

    tiles = Tiles(reader.spec.cameras, FILM_SIDE)
    stride = -(-summary.length // MOST_FRAMES)
    # Browsers play no other pixel format.
    codec = VideoCodec(pix_fmt="yuv420p", crf=CRF, frames_per_key=MOST_FRAMES)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        writer = VideoWriter(file, Camera("film", tiles.height, tiles.width), reader.spec.fps, codec)
        frames = (tiles.picture(images) for images in _every(reader, summary, stride))
        first = next(frames)
        for frame in chain([first], frames):
            writer.write(frame[None])
        writer.close()
        source = data_uri(file.read_bytes(), "video/mp4")
    return Picture(source, tiles.width, tiles.height, stride, poster=_webp(first, lossless=False))


def stills(reader: EpisodeReader, summary: EpisodeSummary) -> Picture:
    """The first, the middle and the last frame side by side, a row for each camera, as WebP in a data URI.

    Raises:
        StoreError: the episode is damaged.
    """
    last = summary.length - 1
    moments = [reader.rows(summary.id, step, step + 1).images for step in (0, last // 2, last)]
    sheet = _beside([_column(reader.spec, images) for images in moments])
    return Picture(_webp(sheet, _is_small(reader.spec)), width=sheet.shape[1], height=sheet.shape[0])


def _every(reader: EpisodeReader, summary: EpisodeSummary, stride: int) -> Iterator[Mapping[str, np.ndarray]]:
    """Every `stride`-th frame (H, W, 3) of all cameras."""
    if stride > SKIP_ROWS:
        blocks: Iterable[tuple[int, int]] = ((step, step + 1) for step in range(0, summary.length, stride))
    else:
        # Whole strides, so that every block begins with a frame that is shown.
        blocks = block_ranges(0, summary.length, stride * -(-rows_per_block(reader.spec) // stride))
    for start, stop in blocks:
        rows = reader.rows(summary.id, start, stop)
        for step in range(0, len(rows), stride):
            yield {name: frames[step] for name, frames in rows.images.items()}


def _column(spec: EpisodeSpec, images: Mapping[str, np.ndarray]) -> np.ndarray:
    tiles = [Tiles((camera,), STILL_SIDE).picture({camera.name: images[camera.name][0]}) for camera in spec.cameras]
    width = max(tile.shape[1] for tile in tiles)
    padded = [_opaque(tile, width, below=_GAP_PX) for tile in tiles]
    return np.concatenate(padded)[:-_GAP_PX]


def _opaque(picture: np.ndarray, width: int, below: int) -> np.ndarray:
    """(H, W, 3) -> (H + below, width, 4), transparent where there is no picture."""
    canvas = np.zeros((picture.shape[0] + below, width, 4), np.uint8)
    canvas[: picture.shape[0], : picture.shape[1], :3] = picture
    canvas[: picture.shape[0], : picture.shape[1], 3] = 255
    return canvas


def _beside(columns: Sequence[np.ndarray]) -> np.ndarray:
    gap = np.zeros((len(columns[0]), _GAP_PX, 4), np.uint8)
    return np.concatenate([piece for column in columns for piece in (gap, column)][1:], axis=1)


def _is_small(spec: EpisodeSpec) -> bool:
    return all(max(camera.height, camera.width) <= STILL_SIDE for camera in spec.cameras)


def _webp(picture: np.ndarray, lossless: bool) -> str:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "WEBP", lossless=lossless, quality=75)
    return data_uri(buffer.getvalue(), "image/webp")
