"""Twice the demonstrations from a task's mirror symmetry."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from ..storage.errors import ConfigError
from ..storage.spec import EpisodeSpec, Vector
from .demonstrations import Demonstrations

Mirror = Literal["none", "transpose", "anti-transpose"]


def with_mirrored(data: Demonstrations, mirror: Mirror) -> Demonstrations:
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
    other = replace(
        data,
        images={name: mirrored_images(frames, mirror) for name, frames in data.images.items()},
        state=mirrored_points(data.state, data.spec.state, mirror),
        action=mirrored_points(data.action, data.spec.action, mirror),
    )
    return Demonstrations(
        data.spec,
        {name: np.concatenate([frames, other.images[name]]) for name, frames in data.images.items()},
        np.concatenate([data.state, other.state]),
        np.concatenate([data.action, other.action]),
        data.lengths * 2,
    )


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
