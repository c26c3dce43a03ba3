"""What a straight push does to the T: gym-pusht's physics, reduced to what matters and run for many pushes at once.

gym-pusht has no friction, damps every velocity to zero each step and moves the agent like a rail, so that the T is
quasi-static: of all motions that clear the agent, it makes the one with the least kinetic energy. For a contact at r
(from the centre of gravity) with normal n and penetration d that is a shift of n d / (1 + (r x n)^2 / I) and a turn of
(r x n) d / (I + (r x n)^2), which is what its solver converges to (Lynch and Mason, "Stable pushing", 1996, without
friction). The walls are left out.
"""

from __future__ import annotations

import numpy as np

from .geometry import AGENT_RADIUS, BOXES, INERTIA, rotate, to_frame


def push(
    placement: np.ndarray, start: np.ndarray, direction: np.ndarray, stride: np.ndarray, num_strides: int
) -> np.ndarray:
    """Move the agent straight on and follow the T.

    Args:
        placement: (N, 4), of the T before the push.
        start: (N, C, 2), where the agent starts each of C pushes, in the world.
        direction: (N, C, 2), unit vectors.
        stride: (N,), how far the agent moves between two looks for contact.
        num_strides: how many strides to take.

    Returns:
        (num_strides + 1, N, C, 4): the T's placement at the start and after each stride.
    """
    tee = np.repeat(placement[:, None], start.shape[1], axis=1)
    track = [tee]
    step = direction * stride[:, None, None]
    for count in range(1, num_strides + 1):
        tee = clear_of(tee, start + step * count)
        track.append(tee)
    return np.stack(track)


def clear_of(tee: np.ndarray, agent: np.ndarray) -> np.ndarray:
    """Where the T (..., 4) is once it no longer overlaps the agent (..., 2)."""
    for box in BOXES:
        tee = _clear_box(tee, agent, box)
    return tee


def _clear_box(tee: np.ndarray, agent: np.ndarray, box: np.ndarray) -> np.ndarray:
    """The T's placement (..., 4) once the agent (..., 2) no longer cuts into one of its boxes."""
    local = to_frame(agent, tee)
    contact = np.clip(local, box[0], box[1])
    gap = contact - local
    distance = np.sqrt((gap**2).sum(axis=-1))
    normal = gap / np.maximum(distance, 1e-6)[..., None]
    lever = contact[..., 0] * normal[..., 1] - contact[..., 1] * normal[..., 0]
    slide = np.maximum(AGENT_RADIUS - distance, 0.0) / (1.0 + lever**2 / INERTIA)
    centre = tee[..., :2] + rotate(normal, tee[..., 2], tee[..., 3]) * slide[..., None]
    return np.concatenate([centre, _turn(tee[..., 2:], slide * lever / INERTIA)], axis=-1)


def _turn(direction: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Turn unit vectors (..., 2) by small angles (...), with nothing but exactly rounded operations."""
    turned = direction + angle[..., None] * np.stack([-direction[..., 1], direction[..., 0]], axis=-1)
    return turned / np.sqrt((turned**2).sum(axis=-1, keepdims=True))
