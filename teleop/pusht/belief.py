"""Where the T is believed to be: readings of its pose, averaged over time.

A probe is off by a unit or two, and differently wherever the agent stands. Acting on single readings, an expert that
is nearly done walks to and fro between two corrections which each look right from the other's side. So the reading is
blended into what was known: the last placement, moved as the agent must have moved it (a Kalman filter with fixed
gains).
"""

from __future__ import annotations

import numpy as np

from .geometry import GOAL, corner_distance
from .pushing import clear_of

#: Weight of a new reading once there have been many.
LEAST_GAIN = 0.08
#: Corner distance from which a reading counts as news rather than as noise, and its weight then.
SURPRISE, SURPRISE_GAIN = 10.0, 0.5
#: Parts into which the agent's way between two frames is cut; it goes at most 18 units and has a radius of 15.
_NUM_PARTS = 4


class Belief:
    """The believed placements of N slots' Ts."""

    def __init__(self, num_slots: int) -> None:
        self._placement = np.tile(GOAL, (num_slots, 1))
        self._agent = np.zeros((num_slots, 2))
        self._num_looks = np.zeros(num_slots, int)

    def forget(self, slot: int) -> None:
        """Start anew with the slot's next reading."""
        self._num_looks[slot] = 0

    def look(self, reading: np.ndarray, agent: np.ndarray) -> np.ndarray:
        """Blend in the placements read (N, 4) while the agents are at (N, 2); returns the belief (N, 4)."""
        known = (self._num_looks > 0)[:, None]
        predicted = np.where(known, self._predicted(agent), reading)
        gain = np.maximum(1.0 / (self._num_looks + 1), LEAST_GAIN)
        gain = np.where(corner_distance(predicted, reading) > SURPRISE, np.maximum(gain, SURPRISE_GAIN), gain)
        blend = predicted + gain[:, None] * (reading - predicted)
        blend[:, 2:] /= np.maximum(np.sqrt((blend[:, 2:] ** 2).sum(axis=-1, keepdims=True)), 1e-6)
        self._placement = clear_of(blend, agent)
        self._agent = agent.copy()
        self._num_looks += 1
        return self._placement

    def _predicted(self, agent: np.ndarray) -> np.ndarray:
        placement = self._placement
        for part in range(1, _NUM_PARTS + 1):
            placement = clear_of(placement, self._agent + (agent - self._agent) * (part / _NUM_PARTS))
        return placement
