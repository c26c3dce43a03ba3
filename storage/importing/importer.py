"""How the episodes of a foreign file become ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..drafts import Draft, block_ranges, rows_per_block
from ..episode import Outcome, Rows
from ..errors import ConfigError
from ..spec import Camera, EpisodeSpec, Vector
from .foreign import Foreign, ImportSettings
from .frames import FrameLayout, frame_layout
from .layout import ColumnRef
from .recording import Recording

_ROWS_PER_READ = 1 << 14
_UNSOLVED = "the task was not solved"
_UNKNOWN = "the file does not say whether the task was solved"


class Importer:
    """The spec and the drafts of a foreign file, which stays open as long as they are used.

    Raises:
        ConfigError: neither the file nor the settings say the rate.
        StoreError: an array is missing, or shapes, types or lengths do not fit.
    """

    def __init__(self, foreign: Foreign, settings: ImportSettings) -> None:
        self._foreign = foreign
        self._settings = settings
        self._layout = settings.applied(foreign.layout)
        self._lengths = {recording.id: self._layout.length(recording) for recording in foreign.recordings}
        if not self._layout.state and not settings.state_from_action:
            raise ConfigError(
                f"{foreign.path} has nothing that the robot reports of itself; name it (--state), or take the action "
                "commanded before for it (--state-from-action)"
            )
        first = foreign.recordings[0]
        self._frames: dict[str, FrameLayout] = {
            name: frame_layout(first.arrays[key], key, settings.blue_first)
            for name, key in self._layout.cameras.items()
        }
        self.spec = self._spec()

    def drafts(self) -> Iterator[Draft]:
        """The episodes, in the order of the file."""
        return map(self._draft, self._foreign.recordings)

    def _draft(self, recording: Recording) -> Draft:
        length = self._lengths[recording.id]
        solved = self._settings.solved or bool((self._reward(recording, 0, length) >= 1).any())
        outcome: Outcome = "success" if solved else "failure"
        reason = "" if solved else _UNSOLVED if self._layout.reward else _UNKNOWN
        return Draft(
            id=recording.id,
            index=recording.number,
            seed=0,
            task=self._settings.task or recording.task or self._foreign.task,
            outcome=outcome,
            reason=reason,
            lineage={"source": dict(recording.source)},
            blocks=lambda: self._blocks(recording, length),
        )

    def _blocks(self, recording: Recording, length: int) -> Iterator[Rows]:
        for start, stop in block_ranges(0, length, rows_per_block(self.spec)):
            yield self._rows(recording, start, stop, length)

    def _rows(self, recording: Recording, start: int, stop: int, length: int) -> Rows:
        reward = self._reward(recording, start, stop)
        success, score = reward >= 1, np.clip(reward, 0, 1)
        if self._settings.solved and stop == length:
            success[-1], score[-1] = True, 1
        return Rows(
            images={
                name: self._frames[name].to_rgb(recording.arrays[key].read(start, stop), key)
                for name, key in self._layout.cameras.items()
            },
            state=self._state(recording, start, stop),
            action=self._layout.action.read(recording, start, stop),
            reward=reward,
            success=success,
            score=score,
            trust=np.ones(stop - start, np.float32),
            labels={name: ref.read(recording, start, stop) for name, ref in self._layout.labels.items()},
        )

    def _reward(self, recording: Recording, start: int, stop: int) -> np.ndarray:
        if not self._layout.reward:
            return np.zeros(stop - start, np.float32)
        return ColumnRef(self._layout.reward).read(recording, start, stop)[:, 0].copy()

    def _state(self, recording: Recording, start: int, stop: int) -> np.ndarray:
        if self._layout.state:
            return np.hstack([ref.read(recording, start, stop) for ref in self._layout.state])
        before = self._layout.action.read(recording, max(0, start - 1), stop - 1)
        return before if start else np.concatenate([self._layout.action.read(recording, 0, 1), before])

    def _spec(self) -> EpisodeSpec:
        fps = self._settings.fps or self._foreign.fps
        if fps is None:
            raise ConfigError(f"{self._foreign.path} does not say its rate; give it (--fps)")
        action = self._vector([self._layout.action])
        if self._foreign.action_bounds and _within(action, *self._foreign.action_bounds):
            low, high = self._foreign.action_bounds
            action = Vector(action.names, (low,) * action.size, (high,) * action.size)
        return EpisodeSpec(
            fps=fps,
            cameras=tuple(Camera(name, layout.height, layout.width) for name, layout in self._frames.items()),
            state=self._vector(self._layout.state) if self._layout.state else action,
            action=action,
            labels={name: self._vector([ref]) for name, ref in self._layout.labels.items()},
            robot_type=self._foreign.robot_type,
        )

    def _vector(self, refs: Sequence[ColumnRef]) -> Vector:
        """Names, and the least and the greatest value of each dimension in the whole file."""
        names = [name for ref in refs for name in ref.names(self._foreign.recordings[0])]
        low, high = np.full(len(names), np.inf), np.full(len(names), -np.inf)
        for recording in self._foreign.recordings:
            for start, stop in block_ranges(0, self._lengths[recording.id], _ROWS_PER_READ):
                values = np.hstack([ref.read(recording, start, stop) for ref in refs])
                low, high = np.minimum(low, values.min(0)), np.maximum(high, values.max(0))
        return Vector(tuple(names), tuple(low.tolist()), tuple(high.tolist()))


def _within(vector: Vector, low: float, high: float) -> bool:
    return min(vector.low) >= low and max(vector.high) <= high
