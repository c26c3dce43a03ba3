"""Recorded actions again, from the start that they were recorded from, and back on their path where it was left."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..generators.recorded_starts import drawn_episode
from ..storage.errors import ConfigError
from ..storage.spec import EpisodeSpec
from .recorded import Recorded, Recordings
from .slotwise import Behaviour, Last, Row, Slotwise, commands_positions

STATE = "observation.state"


class Replay(Slotwise):
    """Plays the actions of one of a dataset's episodes, drawn as `RecordedStarts` draws the start of that seed.

    Where state and action are the same quantities (positions), a robot that is off the recorded path is first led back
    to where it was left, and goes on from there; so it recovers from what disturbs it. Elsewhere the actions are played
    as they were recorded, whatever comes of them.

    Args:
        spec: of the world to drive.
        dataset: folder of the recordings.
        tolerance: how far the state may be from the recorded one, as a share of its range, before it is led back.
        patience: steps that leading it back may take; then the actions go on until it is on its path again. 0: never.
        hold: steps that the last action is commanded for after the recording has ended.
        max_start_distance: how far the first state may be from the recorded one, as a share of its range; 1: anywhere.

    Raises:
        ConfigError: a number is out of its range; in `act`: an episode does not start like its recording.
        StoreError: there is no dataset, or it has no episode.
        SpecMismatch: the dataset is of another robot or rate.
    """

    def __init__(
        self,
        spec: EpisodeSpec,
        dataset: str,
        tolerance: float = 0.05,
        patience: int = 10,
        hold: int = 0,
        max_start_distance: float = 0.02,
    ) -> None:
        super().__init__(spec)
        for name, value in (("tolerance", tolerance), ("max_start_distance", max_start_distance)):
            if not 0 < value <= 1:
                raise ConfigError(
                    f"{name} of replay is a share of the state's range, above 0 and at most 1, got {value}"
                )
        for name, value in (("patience", patience), ("hold", hold)):
            if value < 0:
                raise ConfigError(f"{name} of replay is a number of steps, 0 or more, got {value}")
        self._spec, self._dataset = spec, dataset
        self._recordings = Recordings("replay", dataset, spec)
        self._tolerance, self._hold, self._max_start_distance = tolerance, hold, max_start_distance
        self._patience = patience if commands_positions(spec) else 0
        low, high = np.asarray([spec.state.low, spec.state.high], np.float64)
        self._range = np.where(high > low, high - low, 1.0)

    def behave(self, row: Row, rng: np.random.Generator) -> Behaviour:
        """Play an episode to its end."""
        ids = self._recordings.ids
        recorded = self._recordings.read(ids[drawn_episode(rng, len(ids))])
        self._refuse_other_start(recorded, row)
        left = self._patience
        for state, action in zip(recorded.state[:-1], recorded.action[:-1], strict=True):
            while left and self._distance(state, row) > self._tolerance:
                left -= 1
                row = yield state
            if self._distance(state, row) <= self._tolerance:
                left = self._patience
            row = yield action
        yield from self._end(recorded.action[-1])

    def _end(self, action: np.ndarray) -> Iterator[np.ndarray | Last]:
        for _ in range(self._hold):
            yield action
        yield Last(action)

    def _distance(self, state: np.ndarray, row: Row) -> float:
        """How far the robot is from a recorded state: the greatest share of a range in any dimension."""
        return float((np.abs(row[STATE] - state) / self._range).max())

    def _refuse_other_start(self, recorded: Recorded, row: Row) -> None:
        if self._distance(recorded.state[0], row) > self._max_start_distance:
            names = ", ".join(self._spec.state.names)
            there, here = (np.round(values, 3).tolist() for values in (recorded.state[0], row[STATE]))
            raise ConfigError(
                f"replay was to start like episode {recorded.id!r} of {self._dataset}, where {names} is {there}, and "
                f"found {here}; let episodes start where those of the same dataset do (--starts), or raise "
                "max_start_distance"
            )
