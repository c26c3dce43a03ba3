"""Play without an aim: data on what the robot's actions do, for a world model to learn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..storage.errors import ConfigError
from ..storage.spec import EpisodeSpec
from .slotwise import Behaviour, Row, Slotwise, check_range, commands_positions


class RandomPushes(Slotwise):
    """Moves the commanded point from one random waypoint to the next, each leg at a pace of its own.

    For any robot whose actions are positions. The point starts at the robot's state where state and action are the
    same quantities, and in the middle of the actions' bounds where they are not.

    Args:
        spec: of the world to drive.
        pace: least and greatest share of the actions' range that the point moves in a second.
    """

    def __init__(self, spec: EpisodeSpec, pace: tuple[float, float] | Sequence[float] = (0.1, 0.6)) -> None:
        super().__init__(spec)
        self._pace = check_range("random", "pace", tuple(pace), most=10.0)  # type: ignore[arg-type]
        self._fps = spec.fps
        self._state_is_position = commands_positions(spec)

    def behave(self, row: Row, rng: np.random.Generator) -> Behaviour:
        """Walk from waypoint to waypoint, for ever."""
        span = self.high - self.low
        point = row["observation.state"].astype(np.float64) if self._state_is_position else self.low + span / 2
        while True:
            waypoint, share = rng.uniform(self.low, self.high), rng.uniform(*self._pace) / self._fps
            num_steps = max(1, round(float(np.abs((waypoint - point) / span).max()) / share))
            for step in range(1, num_steps + 1):
                yield point + (waypoint - point) * (step / num_steps)
            point = waypoint


class Idle(Slotwise):
    """Holds one position, so that the data also shows a world in which nothing is done.

    Args:
        spec: of the world to drive.
        park: probability that it first goes to a random edge of the actions' bounds and holds there.
    """

    def __init__(self, spec: EpisodeSpec, park: float = 0.3) -> None:
        super().__init__(spec)
        if not 0.0 <= park <= 1.0:
            raise ConfigError(f"park of idle is a probability, got {park}")
        self._park = park
        self._state_is_position = commands_positions(spec)

    def behave(self, row: Row, rng: np.random.Generator) -> Behaviour:
        """Command the same position, for ever."""
        middle = (self.low + self.high) / 2
        position = row["observation.state"].astype(np.float64) if self._state_is_position else middle
        if rng.uniform() < self._park:
            position = rng.uniform(self.low, self.high)
            axis = rng.integers(len(position))
            position[axis] = (self.low if rng.uniform() < 0.5 else self.high)[axis]
        while True:
            yield position
