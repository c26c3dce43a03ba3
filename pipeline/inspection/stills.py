"""An episode as a strip of frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...storage.dataset import EpisodeReader
from ...storage.episode import EpisodeSummary
from ...storage.spec import EpisodeSpec
from .picture import Picture, webp
from .tiles import Tiles

#: Longer side of a camera's frame in px, at most.
SIDE = 128
_GAP_PX = 2


def stills(reader: EpisodeReader, summary: EpisodeSummary) -> Picture:
    """The first, the middle and the last frame side by side, a row for each camera.

    Raises:
        StoreError: the episode is damaged.
    """
    last = summary.length - 1
    moments = [reader.rows(summary.id, step, step + 1).images for step in (0, last // 2, last)]
    sheet = _beside([_column(reader.spec, images) for images in moments])
    is_exact = all(max(camera.height, camera.width) <= SIDE for camera in reader.spec.cameras)
    return Picture(webp(sheet, lossless=is_exact), width=sheet.shape[1], height=sheet.shape[0])


def _column(spec: EpisodeSpec, images: Mapping[str, np.ndarray]) -> np.ndarray:
    tiles = [Tiles((camera,), SIDE).picture({camera.name: images[camera.name][0]}) for camera in spec.cameras]
    width = max(tile.shape[1] for tile in tiles)
    return np.concatenate([_opaque(tile, width, below=_GAP_PX) for tile in tiles])[:-_GAP_PX]


def _opaque(picture: np.ndarray, width: int, below: int) -> np.ndarray:
    """(H, W, 3) -> (H + below, width, 4), transparent where there is no picture."""
    canvas = np.zeros((picture.shape[0] + below, width, 4), np.uint8)
    canvas[: picture.shape[0], : picture.shape[1], :3] = picture
    canvas[: picture.shape[0], : picture.shape[1], 3] = 255
    return canvas


def _beside(columns: Sequence[np.ndarray]) -> np.ndarray:
    gap = np.zeros((len(columns[0]), _GAP_PX, 4), np.uint8)
    return np.concatenate([piece for column in columns for piece in (gap, column)][1:], axis=1)
