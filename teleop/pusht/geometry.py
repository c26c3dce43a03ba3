"""The shapes of gym-pusht's world: the T, the agent's disc, the goal and the workspace.

Lengths are in gym-pusht's units (a side of the workspace is 512). A *pose* is (..., 4): x, y of the T's body origin
and cos, sin of its angle, as in the label `block_pose`. A *placement* is the same with x, y of the centre of gravity,
about which the T turns. Points "in the T's frame" are relative to the centre of gravity with the T upright.
"""

from __future__ import annotations

import numpy as np

AGENT_RADIUS = 15.0
WORKSPACE = 512.0
#: Nearest that a corner of the T comes to the edge of the workspace: a wall stands there.
WALL = 7.0
#: Centre of gravity of gym-pusht's T in its body's own coordinates.
GRAVITY_CENTRE = np.array([0.0, 45.0])
#: Bar and stem in the T's frame: (box, low or high, x or y).
BOXES = np.array([[[-60.0, -45.0], [60.0, -15.0]], [[-15.0, -15.0], [15.0, 75.0]]])
#: Moment of inertia over mass (3000 / 1): how hard the T turns compared with how hard it slides.
INERTIA = 3000.0
GOAL_POSE = np.array([256.0, 256.0, np.cos(np.pi / 4), np.sin(np.pi / 4)])
#: The T's outline, corner by corner.
CORNERS = np.array([(-60, -45), (60, -45), (60, -15), (15, -15), (15, 75), (-15, 75), (-15, -15), (-60, -15)], float)
CORNER_MEAN = CORNERS.mean(axis=0)
CORNER_VARIANCE = float(((CORNERS - CORNER_MEAN) ** 2).sum(axis=1).mean())


def rotate(vectors: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Turn (..., 2) vectors by the angle with this cosine and sine; -sin turns them back."""
    x, y = vectors[..., 0], vectors[..., 1]
    return np.stack([cos * x - sin * y, sin * x + cos * y], axis=-1)


def placement_of(pose: np.ndarray) -> np.ndarray:
    """The placement (..., 4) of a pose (..., 4), its cos and sin made a unit vector."""
    direction = pose[..., 2:] / np.maximum(np.sqrt((pose[..., 2:] ** 2).sum(axis=-1, keepdims=True)), 1e-6)
    centre = pose[..., :2] + rotate(GRAVITY_CENTRE, direction[..., 0], direction[..., 1])
    return np.concatenate([centre, direction], axis=-1)


def to_frame(points: np.ndarray, placement: np.ndarray) -> np.ndarray:
    """World points (..., 2) in the T's frame."""
    return rotate(points - placement[..., :2], placement[..., 2], -placement[..., 3])


def to_world(points: np.ndarray, placement: np.ndarray) -> np.ndarray:
    """Points of the T's frame (..., 2) in the world."""
    return rotate(points, placement[..., 2], placement[..., 3]) + placement[..., :2]


GOAL = placement_of(GOAL_POSE)


def goal_distance(placement: np.ndarray) -> np.ndarray:
    """How far (...) the T's corners are from where they belong at the goal."""
    return corner_distance(placement, GOAL)


def corner_distance(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Root mean square distance (...) between the eight corners of Ts at two placements (..., 4)."""
    shift = to_world(CORNER_MEAN, one) - to_world(CORNER_MEAN, other)
    turn = 1.0 - (one[..., 2] * other[..., 2] + one[..., 3] * other[..., 3])
    return np.sqrt((shift**2).sum(axis=-1) + 2.0 * CORNER_VARIANCE * np.maximum(turn, 0.0))


def nearest_on_tee(points: np.ndarray) -> np.ndarray:
    """The point (..., 2) of the T nearest to each point (..., 2), both in the T's frame."""
    bar, stem = (np.clip(points, low, high) for low, high in BOXES)
    bar_is_nearer = ((points - bar) ** 2).sum(axis=-1) <= ((points - stem) ** 2).sum(axis=-1)
    return np.where(bar_is_nearer[..., None], bar, stem)
