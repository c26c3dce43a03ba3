"""An episode as a short video that every browser plays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ...storage.dataset import EpisodeReader
from ...storage.drafts import block_ranges, rows_per_block
from ...storage.episode import EpisodeSummary
from ...storage.spec import Camera
from ..report.pictures import data_uri
from .picture import Picture, webp
from .tiles import Tiles

#: Frames of a film, besides the last; a longer episode is shown faster: every second row of it, or every third.
MOST_FRAMES = 300
#: From so many rows on it costs less to read the frames that are shown one by one than all of them.
SKIP_ROWS = 16
#: Longer side of a camera's frame in px, at most.
SIDE = 320
#: Of H.264: 18 cannot be told from the original, 51 is the worst.
CRF = 26


def film(reader: EpisodeReader, summary: EpisodeSummary) -> Picture:
    """All cameras of an episode side by side as H.264 video, at the rate it was recorded with.

    Raises:
        StoreError: the episode is damaged.
    """
    from ...storage.video import VideoCodec, VideoWriter

    tiles = Tiles(reader.spec.cameras, SIDE)
    stride = -(-summary.length // MOST_FRAMES)
    frames = (tiles.picture(images) for images in _every(reader, summary, stride))
    first = next(frames)
    # Browsers play no other pixel format.
    codec = VideoCodec(pix_fmt="yuv420p", crf=CRF, frames_per_key=MOST_FRAMES)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "film.mp4"
        with closing(VideoWriter(file, Camera("film", tiles.height, tiles.width), reader.spec.fps, codec)) as writer:
            for frame in chain([first], frames):
                writer.write(frame[None])
        source = data_uri(file.read_bytes(), "video/mp4")
    return Picture(source, tiles.width, tiles.height, stride, poster=webp(first, lossless=False))


def _every(reader: EpisodeReader, summary: EpisodeSummary, stride: int) -> Iterator[Mapping[str, np.ndarray]]:
    """Every `stride`-th frame (H, W, 3) of all cameras, and the last, which shows how the episode ended."""
    if stride > SKIP_ROWS:
        blocks: Iterable[tuple[int, int]] = ((step, step + 1) for step in range(0, summary.length, stride))
    else:
        # Whole strides, so that every block begins with a frame that is shown.
        blocks = block_ranges(0, summary.length, stride * -(-rows_per_block(reader.spec) // stride))
    last = summary.length - 1
    for start, stop in chain(blocks, [(last, last + 1)] if last % stride else []):
        rows = reader.rows(summary.id, start, stop)
        for step in range(0, len(rows), stride):
            yield {name: frames[step] for name, frames in rows.images.items()}
