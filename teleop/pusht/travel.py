"""The way round the T: shortest paths of the agent's centre that keep clear of the T and stay in the workspace.

The T, grown by the agent's radius and a clearance, is two overlapping boxes; a shortest path between two points outside
them bends only at their six outer corners (Lozano-Perez and Wesley, 1979), so a graph of six nodes is enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .geometry import AGENT_RADIUS, BOXES, WORKSPACE, nearest_on_tee, to_world

CLEARANCE = 6.0
_GROWTH = AGENT_RADIUS + CLEARANCE
#: Nodes stand a little outside the grown boxes, so that the next leg comes into view before a node is reached.
_NODE_GROWTH = _GROWTH + 2.0


def _nodes() -> np.ndarray:
    (bar_low, bar_high), (stem_low, stem_high) = BOXES + np.array([[-_NODE_GROWTH], [_NODE_GROWTH]])
    bar = [(x, y) for x in (bar_low[0], bar_high[0]) for y in (bar_low[1], bar_high[1])]
    return np.array([*bar, (stem_low[0], stem_high[1]), (stem_high[0], stem_high[1])])


def is_clear(start: np.ndarray, end: np.ndarray, growth: Any = _GROWTH) -> np.ndarray:
    """Whether the segment from start (..., 2) to end (..., 2), in the T's frame, misses both boxes so grown."""
    step = end - start
    step = np.where(np.abs(step) < 1e-9, 1e-9, step)
    growth = np.asarray(growth, np.float64)[..., None]
    clear = np.ones(np.broadcast_shapes(start.shape, end.shape)[:-1], bool)
    for low, high in BOXES:
        one, other = (low - growth - start) / step, (high + growth - start) / step
        enters = np.minimum(one, other).max(axis=-1)
        leaves = np.maximum(one, other).min(axis=-1)
        clear &= np.maximum(enters, 0.0) >= np.minimum(leaves, 1.0)
    return clear


def _length(start: np.ndarray, end: np.ndarray, growth: Any = _GROWTH) -> np.ndarray:
    """Length of the segment, infinite where it is not clear."""
    length = np.sqrt(((end - start) ** 2).sum(axis=-1))
    return np.where(is_clear(start, end, growth), length, np.inf)


NODES = _nodes()
_BETWEEN = _length(NODES[:, None], NODES[None])


def node_distances(placement: np.ndarray) -> np.ndarray:
    """Shortest ways (N, 6, 6) between the nodes that lie in the workspace, for T's placements (N, 4)."""
    world = to_world(NODES, placement[:, None])
    outside = np.any((world < 0.0) | (world > WORKSPACE), axis=-1)
    ways = np.where(outside[:, :, None] | outside[:, None], np.inf, _BETWEEN)
    for node in range(len(NODES)):
        ways = np.minimum(ways, ways[:, :, node, None] + ways[:, None, node])
    return ways


def routes(placement: np.ndarray, agent: np.ndarray, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shortest ways from the agent to each of C goals.

    Args:
        placement: (N, 4), of the T.
        agent: (N, 2), in the T's frame.
        goals: (C, 2), in the T's frame, outside the grown boxes.

    Returns:
        Lengths (N, C), infinite where there is no way, and the first point to walk to (N, C, 2), in the T's frame.
    """
    growth = _agent_growth(agent)[:, None]
    straight = _length(agent[:, None], goals[None], growth)
    onward = (node_distances(placement)[..., None] + _length(NODES[:, None], goals[None])).min(axis=2)
    via = _length(agent[:, None], NODES[None], growth)[..., None] + onward
    first = via.argmin(axis=1)
    around = np.take_along_axis(via, first[:, None], axis=1)[:, 0]
    hop = np.where((straight <= around)[..., None], goals[None], NODES[first])
    return np.minimum(straight, around), hop


def _agent_growth(agent: np.ndarray) -> np.ndarray:
    """An agent that stands close to the T may leave along it, so its own legs are tested with what room it has."""
    away = np.abs(agent - nearest_on_tee(agent)).max(axis=-1)
    return np.minimum(_GROWTH, away - 0.5)
