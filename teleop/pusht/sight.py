"""Reading gym-pusht's frames by colour: where the T is, from the moments of the pixels painted like it.

Good enough to play with before a probe has been trained, in reality only: it knows the exact colours.
"""

from __future__ import annotations

import numpy as np

from .geometry import BOXES, GRAVITY_CENTRE, WORKSPACE, rotate

#: Half way between the T's outline, LightSlateGray, and its inside, which pymunk paints a fifth lighter.
TEE_COLOUR = np.array([131.0, 150.0, 168.0])
_TOLERANCE = 50.0  # of the RGB distance; the colours of the agent, the goal and the walls are further off


def tee_weights(images: np.ndarray) -> np.ndarray:
    """Which pixels (N, H, W) float64 of the frames (N, H, W, 3) uint8 show the T; 1 or 0."""
    off = images.astype(np.float64) - TEE_COLOUR
    return ((off**2).sum(axis=-1) < _TOLERANCE**2).astype(np.float64)


def tee_centre(images: np.ndarray) -> np.ndarray:
    """Centre of the T's area (N, 2), in the workspace's units; the middle of the workspace where no T is seen."""
    weights, x, y = _pixels(images)
    total = weights.sum(axis=1)
    centre = np.stack([(weights * x).sum(axis=1), (weights * y).sum(axis=1)], axis=-1)
    return np.where(total[:, None] > 0, centre / np.maximum(total, 1.0)[:, None], WORKSPACE / 2)


def read_pose(images: np.ndarray) -> dict[str, np.ndarray]:
    """The T's pose, as a probe would give it: {"block_pose": (N, 4) float32 x, y, cos, sin}.

    The stem lies along the longer principal axis of the painted pixels, on the side of their longer tail.
    """
    weights, x, y = _pixels(images)
    centre = tee_centre(images)
    dx, dy = x - centre[:, :1], y - centre[:, 1:]
    total = np.maximum(weights.sum(axis=1), 1.0)
    xx, yy, xy = ((weights * product).sum(axis=1) / total for product in (dx * dx, dy * dy, dx * dy))
    axis = 0.5 * np.arctan2(2.0 * xy, xx - yy)
    along = dx * np.cos(axis)[:, None] + dy * np.sin(axis)[:, None]
    towards_stem = np.where((weights * along**3).sum(axis=1) >= 0, 1.0, -1.0)
    stem = np.stack([np.cos(axis), np.sin(axis)], axis=-1) * towards_stem[:, None]
    cos, sin = stem[:, 1], -stem[:, 0]
    origin = centre - rotate(_AREA_CENTRE, cos, sin)
    return {"block_pose": np.concatenate([origin, cos[:, None], sin[:, None]], axis=-1).astype(np.float32)}


def _pixels(images: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights (N, H * W) and the pixels' centres x and y (H * W,), in the workspace's units."""
    height, width = images.shape[1:3]
    y, x = np.mgrid[:height, :width].reshape(2, -1) + 0.5
    return tee_weights(images).reshape(len(images), -1), x * WORKSPACE / width, y * WORKSPACE / height


def _area_centre() -> np.ndarray:
    """Centre of the T's area in its body's own coordinates."""
    areas = (BOXES[:, 1] - BOXES[:, 0]).prod(axis=-1)
    return GRAVITY_CENTRE + (BOXES.mean(axis=1) * areas[:, None]).sum(axis=0) / areas.sum()


_AREA_CENTRE = _area_centre()
