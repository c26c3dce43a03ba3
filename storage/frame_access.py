"""Single frames of a stored dataset in any order, as training asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np

from .create import format_of
from .dataset import EpisodeReader


class FrameAccess(Protocol):
    """Reads frames by their number. Safe to share between threads, to fork and to pickle."""

    def frames(self, id: str, camera: str, numbers: Iterable[int]) -> Iterator[np.ndarray]:
        """Frames of one episode, each (H, W, 3) uint8 RGB and not to be written to.

        Args:
            numbers: of the frames; rising ones are read fastest.

        Raises:
            StoreError: they are not there or damaged.
        """
        ...


def open_frames(reader: EpisodeReader, cache_bytes: int = 0) -> FrameAccess:
    """Access to the frames of a dataset, whatever its format; up to `cache_bytes` of decoded ones stay in memory."""
    if format_of(reader.path) == "lerobot":
        from .lerobot_access import LeRobotFrames
        from .lerobot_reader import LeRobotReader

        return LeRobotFrames(reader if isinstance(reader, LeRobotReader) else LeRobotReader(reader.path), cache_bytes)
    from .zarr_access import ZarrFrames

    return ZarrFrames(reader.path, cache_bytes)
