"""Play that touches the T: find it by colour, walk behind it, push through it in a random direction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...storage.spec import EpisodeSpec
from ..slotwise import Behaviour, Row, Slotwise, check_range
from .expert import IMAGE, STATE, check_spec
from .geometry import WORKSPACE
from .sight import tee_centre

#: A walking agent keeps this far from the T's centre: beyond the end of the stem (about 95) when it can.
BERTH = 110.0
#: Pushes pass this far beside the T's centre at most, so that they turn it as well as shift it.
OFFSET = 45.0
#: Pushes are drawn so that they end this far from the edge, for the T not to collect in the corners.
MARGIN = 90.0
_WALK_LEAD = 40.0
_NEAR = 18.0
_MAX_WALK_STEPS = 40


class ContactSeeking(Slotwise):
    """Pushes the T about in random directions, over random lengths, off its centre by random amounts.

    Args:
        spec: of the world to drive, as for PushTExpert.
        reach: least and greatest length of a push behind the T's centre, in units.
        lead: least and greatest distance of the commanded point ahead of the agent during a push, in units.
    """

    def __init__(
        self,
        spec: EpisodeSpec,
        reach: tuple[float, float] | Sequence[float] = (-20.0, 120.0),
        lead: tuple[float, float] | Sequence[float] = (10.0, 40.0),
    ) -> None:
        check_spec(spec, "pusht-seek")
        super().__init__(spec)
        self._reach = (float(reach[0]), float(reach[1]))
        self._lead = check_range("pusht-seek", "lead", tuple(lead), most=WORKSPACE)  # type: ignore[arg-type]

    def behave(self, row: Row, rng: np.random.Generator) -> Behaviour:
        """Walk behind the T and push through it, again and again."""
        while True:
            start, end = draw_push(_centre(row), rng, self._reach)
            for _ in range(_MAX_WALK_STEPS):
                agent = _agent(row)
                if np.hypot(*(start - agent)) < _NEAR:
                    break
                row = yield agent + _towards(_detour(agent, start, _centre(row)) - agent, _WALK_LEAD)
            lead = rng.uniform(*self._lead)
            num_steps = int(2.0 * np.hypot(*(end - start)) / lead) + 3
            for _ in range(num_steps):
                agent = _agent(row)
                row = yield agent + _towards(end - agent, lead)


def draw_push(
    centre: np.ndarray, rng: np.random.Generator, reach: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Start and end (2,) of a push past the T's centre; of eight draws, the first that ends well inside."""
    for _ in range(8):
        angle, offset, length = rng.uniform(0.0, 2.0 * np.pi), rng.uniform(-OFFSET, OFFSET), rng.uniform(*reach)
        direction = np.array([np.cos(angle), np.sin(angle)])
        beside = centre + offset * np.array([-direction[1], direction[0]])
        start, end = beside - BERTH * direction, beside + length * direction
        if _is_inside(end, MARGIN) and _is_inside(start, 0.0):
            break
    return np.clip(start, 0.0, WORKSPACE), np.clip(end, 0.0, WORKSPACE)


def _detour(agent: np.ndarray, goal: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """The next point (2,) on the way to `goal`: along a circle round the T unless it already lies straight ahead."""
    here, there = agent - centre, goal - centre
    turn = (np.arctan2(there[1], there[0]) - np.arctan2(here[1], here[0]) + np.pi) % (2.0 * np.pi) - np.pi
    if abs(turn) < 0.6:
        return goal
    angle = np.arctan2(here[1], here[0]) + np.sign(turn) * 0.6
    return np.clip(centre + BERTH * np.array([np.cos(angle), np.sin(angle)]), 0.0, WORKSPACE)


def _is_inside(point: np.ndarray, margin: float) -> bool:
    return bool(((point >= margin) & (point <= WORKSPACE - margin)).all())


def _towards(step: np.ndarray, most: float) -> np.ndarray:
    return step * min(1.0, most / max(float(np.hypot(*step)), 1e-6))


def _agent(row: Row) -> np.ndarray:
    return row[STATE][:2].astype(np.float64)


def _centre(row: Row) -> np.ndarray:
    return tee_centre(row[IMAGE][None])[0]
