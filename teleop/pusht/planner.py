"""Choosing the next push: every candidate of a fixed grid is simulated, the cheapest is kept.

A sampling-based expert without the sampling: the grid is the same at every step, ties go to the first, and the choice
depends on what is seen alone. The cost of a candidate estimates the steps still to take: to walk to it, to push, and to
the goal from where the push leaves the T. A walk gets cheaper as it is walked, so that the push it leads to stays the
best one until it is made, and no plan has to be remembered that two frames would not show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .geometry import AGENT_RADIUS, CORNERS, WALL, WORKSPACE, goal_distance, nearest_on_tee, rotate, to_frame, to_world
from .pushing import push
from .travel import is_clear, routes

WALK_SPEED = 18.0  # units a step, as for PUSH_SPEED
PUSH_SPEED = 10.0
#: What leaving the present push for another costs besides the way; less, and the agent dithers between near contacts.
APPROACH_STEPS = 10.0
#: How far before its contact a push of the grid starts.
GAP = 8.0
#: The agent may push straight from where it stands when it is as near to the T as this.
REACH = 14.0
#: Within this distance of a run-up the agent pushes; it need not go back to where the run-up starts.
ARRIVED = 5.0
CONTACT_SPACING = 20.0
NUM_STRIDES = 20
#: Steps that a push from where the agent stands must save; less, and an agent whose push has done its work lingers.
MIN_GAIN = 1.0
#: With this corner distance left the T lies on the goal, and the agent keeps still.
STOP_DISTANCE = 1.0


def remaining_steps(distance: np.ndarray) -> np.ndarray:
    """Estimated steps to the goal from a corner distance.

    The logarithm says that an error takes about as long to halve however small it is; without it the last small
    corrections would never be worth the walk round the T. Fitted by trial to the fewest steps over 50 starts.
    """
    return 0.8 * distance + 20.0 * np.log1p(distance)


@dataclass(frozen=True)
class Moves:
    """What to do in each of N slots.

    Args:
        target: (N, 2), where to walk or to push to, in the world.
        is_push: (N,) bool, whether the way to the target leads through the T.
        is_corner: (N,) bool, whether the walk goes on behind the target.
    """

    target: np.ndarray
    is_push: np.ndarray
    is_corner: np.ndarray


@dataclass(frozen=True)
class Candidates:
    """P straight pushes in each of N slots, in the world.

    Args:
        contact: (N, P, 2), where the agent may first touch the T.
        direction: (N, P, 2), unit vectors.
        run_up: (N, P), units from where the push starts to `contact`.
        approach: (N, P), steps until the push starts; infinite where it cannot be reached.
    """

    contact: np.ndarray
    direction: np.ndarray
    run_up: np.ndarray
    approach: np.ndarray


def plan(placement: np.ndarray, agent: np.ndarray) -> Moves:
    """The best move in each slot, for the T's placement (N, 4) and the agent (N, 2) in the world."""
    local = to_frame(agent, placement)
    way, hop = routes(placement, local, STARTS)
    candidates = _joined(_grid_pushes(placement, way), _pushes_from_here(placement, local))
    cost, length = _costs(placement, candidates)
    slots, best = np.arange(len(agent)), cost.argmin(axis=1)
    start = np.minimum(best, len(STARTS) - 1)
    is_corner = (hop[slots, start] != STARTS[start]).any(axis=-1)
    has_arrived = ~is_corner & _is_on_run_up(local, start)
    is_push = (best >= len(STARTS)) | has_arrived
    beyond = (length - candidates.run_up)[slots, best]
    push_to = candidates.contact[slots, best] + candidates.direction[slots, best] * beyond[:, None]
    target = np.where(is_push[:, None], push_to, to_world(hop[slots, start], placement))
    solved = goal_distance(placement) < STOP_DISTANCE
    return Moves(
        target=np.where(solved[:, None], agent, target),
        is_push=is_push | solved,
        is_corner=is_corner,
    )


def contact_grid() -> tuple[np.ndarray, np.ndarray]:
    """Starts (C, 2) and directions (C, 2) in the T's frame: points of the outline by three angles to its normal."""
    pushes = []
    for corner, following in zip(CORNERS, np.roll(CORNERS, -1, axis=0), strict=True):
        edge = following - corner
        length = float(np.hypot(*edge))
        inward = np.array([-edge[1], edge[0]]) / length
        count = max(1, round(length / CONTACT_SPACING))
        for share in (np.arange(count) + 0.5) / count:
            contact = corner + share * edge - AGENT_RADIUS * inward
            for angle in np.radians([0.0, -30.0, 30.0]):
                direction = rotate(inward, np.cos(angle), np.sin(angle))
                pushes.append((contact - GAP * direction, direction))
    starts, directions = np.array(pushes).swapaxes(0, 1)
    clear = is_clear(starts, starts)
    return starts[clear], directions[clear]


STARTS, DIRECTIONS = contact_grid()
_ANGLES = np.radians(np.arange(0.0, 360.0, 15.0))
#: Directions of pushes from where the agent stands, in the T's frame.
STEERING = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], axis=-1)


def _is_on_run_up(local: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Whether each agent (N, 2), in the T's frame, is about between its start (N,) of the grid and the contact."""
    gone = local - STARTS[start]
    along = np.clip((gone * DIRECTIONS[start]).sum(axis=-1), 0.0, GAP)
    aside = gone - along[:, None] * DIRECTIONS[start]
    near: np.ndarray = (aside**2).sum(axis=-1) < ARRIVED**2
    return near


def _grid_pushes(placement: np.ndarray, way: np.ndarray) -> Candidates:
    starts = to_world(STARTS, placement[:, None])
    direction = rotate(DIRECTIONS, placement[:, None, 2], placement[:, None, 3])
    inside = ((starts >= 0.0) & (starts <= WORKSPACE)).all(axis=-1)
    approach = np.where(inside, way / WALK_SPEED + APPROACH_STEPS, np.inf)
    return Candidates(starts + GAP * direction, direction, np.full(way.shape, GAP), approach)


def _pushes_from_here(placement: np.ndarray, local: np.ndarray) -> Candidates:
    direction = rotate(STEERING, placement[:, None, 2], placement[:, None, 3])
    room = np.sqrt(((nearest_on_tee(local) - local) ** 2).sum(axis=-1)) - AGENT_RADIUS
    run_up = np.repeat(np.maximum(room, 0.0)[:, None], len(STEERING), axis=1)
    contact = to_world(local[:, None], placement[:, None]) + direction * run_up[..., None]
    return Candidates(contact, direction, run_up, np.where(run_up < REACH, 0.0, np.inf))


def _joined(*parts: Candidates) -> Candidates:
    names = ("contact", "direction", "run_up", "approach")
    return Candidates(*(np.concatenate([getattr(part, name) for part in parts], axis=1) for name in names))


def _costs(placement: np.ndarray, pushes: Candidates) -> tuple[np.ndarray, np.ndarray]:
    """Each push's cost (N, P) in steps and the length (N, P) at which it is lowest; infinite if it is idle."""
    # Near the goal shorter strides, so that a nudge of half a unit can be told from one of a whole.
    stride = np.clip(goal_distance(placement) / 15.0, 0.4, 4.0)
    track = push(placement, pushes.contact, pushes.direction, stride, NUM_STRIDES)
    steps = np.arange(NUM_STRIDES + 1)[:, None, None] * (stride / PUSH_SPEED)[:, None]
    cost = remaining_steps(goal_distance(track)) + steps
    best = 1 + cost[1:].argmin(axis=0)
    lowest = np.take_along_axis(cost, best[None], axis=0)[0]
    end = np.take_along_axis(track, best[None, ..., None], axis=0)[0]
    total = lowest + pushes.run_up / PUSH_SPEED + pushes.approach + _beyond_walls(end)
    # A push from the grid is always offered: where the T lies the wrong way round, none of them helps at once.
    helps = remaining_steps(goal_distance(placement))[:, None] - lowest > MIN_GAIN
    return np.where(helps | (pushes.approach > 0.0), total, np.inf), pushes.run_up + best * stride[:, None]


def _beyond_walls(placement: np.ndarray) -> np.ndarray:
    """How far the T's corners would stick into the walls, in all (...)."""
    corners = to_world(CORNERS, placement[..., None, :])
    return np.maximum(np.maximum(WALL - corners, corners - (WORKSPACE - WALL)), 0.0).sum(axis=(-1, -2))
