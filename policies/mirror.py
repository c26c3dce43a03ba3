"""Twice the demonstrations from a task's mirror symmetry."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..storage.columns import ACTION, STATE, image_key
from ..storage.errors import ConfigError
from ..storage.row_table import Column, RowTable
from ..storage.spec import EpisodeSpec, Vector
from ..storage.timeline import Timeline

Mirror = Literal["none", "transpose", "anti-transpose"]


def with_mirrored(data: RowTable, mirror: Mirror) -> RowTable:
    """`data`, followed by the same episodes seen in a mirror.

    Args:
        data: of a task seen from above, whose state and action are points (x, y) of the image's plane.
        mirror: `transpose` swaps x and y (the mirror lies along the image's main diagonal), `anti-transpose` also
            turns both round (the other diagonal). Right only where the task looks the same in that mirror.

    Raises:
        ConfigError: state or action are not points, or the frames are not square.
    """
    if mirror == "none":
        return data
    _check(data.spec, mirror)
    names = [image_key(camera.name) for camera in data.spec.cameras]
    columns: dict[str, Column] = {name: WithMirrored(data[name], mirror) for name in names}
    for name, vector in ((STATE, data.spec.state), (ACTION, data.spec.action)):
        columns[name] = np.concatenate([data[name][:], mirrored_points(data[name][:], vector, mirror)])
    return RowTable(data.spec, Timeline(np.tile(data.timeline.lengths, 2)), columns, data.tasks * 2)


class WithMirrored:
    """Frames (N, H, H, 3), followed by the same in the mirror, which is made of those that are asked for."""

    def __init__(self, frames: Column, mirror: Mirror) -> None:
        self._frames, self._mirror = frames, mirror
        self.shape = (2 * len(frames), *frames.shape[1:])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> np.ndarray:
        """Of any index of rows."""
        rows = np.arange(len(self))[index]
        frames: np.ndarray = self._frames[rows % len(self._frames)]
        turned = rows >= len(self._frames)
        frames[turned] = mirrored_images(frames[turned], self._mirror)
        return frames


def mirrored_images(frames: np.ndarray, mirror: Mirror) -> np.ndarray:
    """(N, H, H, 3) -> the same in the mirror."""
    swapped = frames.swapaxes(1, 2)
    return np.ascontiguousarray(swapped[:, ::-1, ::-1] if mirror == "anti-transpose" else swapped)


def mirrored_points(points: np.ndarray, vector: Vector, mirror: Mirror) -> np.ndarray:
    """(N, 2) -> the same in the mirror."""
    swapped = points[:, ::-1]
    return np.ascontiguousarray(vector.low[0] + vector.high[0] - swapped if mirror == "anti-transpose" else swapped)


def _check(spec: EpisodeSpec, mirror: Mirror) -> None:
    for name, vector in (("state", spec.state), ("action", spec.action)):
        if vector.size != 2 or len(set(vector.low)) > 1 or len(set(vector.high)) > 1:
            raise ConfigError(
                f"mirror={mirror!r} needs {name} to be a point with equal bounds on x and y, got {vector}; "
                "use mirror='none'"
            )
    for camera in spec.cameras:
        if camera.height != camera.width:
            raise ConfigError(
                f"mirror={mirror!r} needs square frames, camera {camera.name!r} has "
                f"{camera.height} x {camera.width}; use mirror='none'"
            )
