"""Streams whose slots have nothing in common: each runs a generator that is sent observations and yields actions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..generators.stream import Observation
from ..storage.errors import ConfigError
from ..storage.spec import EpisodeSpec

#: One slot's observation: the same keys, without the first axis.
Row = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Last:
    """An action (A,) after which a behaviour has nothing more to do."""

    action: np.ndarray


#: Yields the action (A,) for the observation it was sent; ends when it has nothing more to do, or with a `Last`.
Behaviour = Generator[np.ndarray | Last, Row, None]


class Slotwise(ABC):
    """An ActionStream made of one behaviour for each slot; a behaviour that ends leaves its last action standing.

    Args:
        spec: of the world to drive; actions are clipped to its bounds.
    """

    def __init__(self, spec: EpisodeSpec) -> None:
        self.low = np.asarray(spec.action.low, np.float64)
        self.high = np.asarray(spec.action.high, np.float64)
        self._seeds: list[int] = []
        self._behaviours: list[Behaviour | None] = []
        self._held = np.zeros((0, len(self.low)))
        self._finished = np.zeros(0, bool)

    @abstractmethod
    def behave(self, row: Row, rng: np.random.Generator) -> Behaviour:
        """Start a slot's behaviour at its first observation."""

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """See ActionStream.reset."""
        if len(self._seeds) != len(mask):
            self._seeds, self._behaviours = list(seeds), [None] * len(mask)
            self._held, self._finished = np.zeros((len(mask), len(self.low))), np.zeros(len(mask), bool)
        for slot in np.flatnonzero(mask):
            self._seeds[slot], self._behaviours[slot], self._finished[slot] = seeds[slot], None, False

    def act(self, observation: Observation) -> np.ndarray:
        """See ActionStream.act."""
        for slot in np.flatnonzero(~self._finished):
            row = {name: values[slot] for name, values in observation.items()}
            try:
                given = self._next(slot, row)
            except StopIteration:
                self._finished[slot] = True
                continue
            self._finished[slot] = isinstance(given, Last)
            self._held[slot] = np.clip(given.action if isinstance(given, Last) else given, self.low, self.high)
        return self._held.astype(np.float32)

    def finished(self) -> np.ndarray:
        """See ActionStream.finished."""
        return self._finished.copy()

    def _next(self, slot: int, row: Row) -> np.ndarray | Last:
        behaviour = self._behaviours[slot]
        if behaviour is not None:
            return behaviour.send(row)
        behaviour = self._behaviours[slot] = self.behave(row, np.random.default_rng(self._seeds[slot]))
        return next(behaviour)


def commands_positions(spec: EpisodeSpec) -> bool:
    """Whether an action says where the robot is to be, in the quantities in which its state says where it is."""
    return (spec.state.low, spec.state.high) == (spec.action.low, spec.action.high)


def check_range(stream: str, name: str, value: tuple[float, float], most: float) -> tuple[float, float]:
    """`value` if it is a range (low, high) within (0, most]; raises ConfigError otherwise."""
    if len(value) != 2 or not 0.0 < value[0] <= value[1] <= most:
        raise ConfigError(f"{name} of {stream} must be (low, high) with 0 < low <= high <= {most:g}, got {value}")
    return value[0], value[1]
