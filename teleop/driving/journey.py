"""One world of one slot on its way from a start: what was seen at each step, what was done, and the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...generators.recording import IMAGES
from ...generators.world import World, bounded_actions
from ...storage.episode import Rows
from ...storage.errors import ConfigError


@dataclass(frozen=True)
class Moment:
    """What one slot looks like at one step.

    Args:
        frames: camera name -> (H, W, 3) uint8 RGB.
        state: (S,) float32.
        labels: name -> (L,) float32, where the world knows them.
        success, score, trust: of this moment; see `World`.
        snapshot: what brings the world back here; None where it cannot be brought back by one.
    """

    frames: Mapping[str, np.ndarray]
    state: np.ndarray
    labels: Mapping[str, np.ndarray]
    success: bool
    score: float
    trust: float
    snapshot: Any = None


@dataclass(frozen=True)
class Passage:
    """What led from one moment to the next: the action (A,) float32 as it was applied, and whose it was."""

    action: np.ndarray
    reward: float
    intervention: bool


class Journey:
    """Drives a world step by step and can return to the steps it remembers.

    A world that gives no snapshots is brought back by starting it again and repeating what was done; by the contract
    of `World` the same seed and actions then give the same bytes, and this is checked.

    Args:
        world: of one slot; nothing else may drive it meanwhile.
        seed: of the start.
        options: of the world's reset, such as `start`.
        memory: how many of the last moments are remembered, besides those from `keep_from` on.

    Raises:
        ConfigError: the world has several slots.
        Whatever the world raises if it cannot start there.
    """

    def __init__(self, world: World, seed: int, options: Mapping[str, Any] | None = None, memory: int = 100) -> None:
        if world.num_envs != 1:
            raise ConfigError(f"one person drives a world of one slot, this one has {world.num_envs}; use num_envs=1")
        self.world, self._seed, self._options, self._memory = world, seed, dict(options or {}), memory
        observation, info = world.reset(seed=[seed], options=self._options)
        #: What the world knows of where it starts (`info["start"]`), by name.
        self.start_facts = {name: float(values[0]) for name, values in info.get("start", {}).items()}
        self.passages: list[Passage] = []
        self._moments = [_moment(observation, info, _snapshot(world))]
        #: (S,) float32, of the robot at the start.
        self.start_state = self.present.state
        self._kept_from: int | None = None

    @property
    def step_number(self) -> int:
        """Steps since the start."""
        return len(self.passages)

    @property
    def present(self) -> Moment:
        """Where the world is."""
        return self._moments[-1]

    @property
    def oldest(self) -> int:
        """The earliest step that is remembered."""
        return self.step_number + 1 - len(self._moments)

    def keep_from(self, step: int | None) -> None:
        """Remember every moment from this step on, however many they become; None: the last ones only."""
        self._kept_from = step

    def step(self, action: np.ndarray, intervention: bool = True) -> Moment:
        """Advance the world by one action (A,); it is clipped to the bounds.

        Raises:
            ValueError: the action has another shape, or an entry that is no number. Nothing has happened then.
        """
        applied = bounded_actions(np.asarray(action)[None], self.world.episode_spec, 1)
        observation, reward, _, _, info = self.world.step(applied)
        self.passages.append(Passage(applied[0], float(reward[0]), intervention))
        self._moments.append(_moment(observation, info, _snapshot(self.world)))
        self._forget()
        return self.present

    def back_to(self, step: int) -> Moment:
        """Return to an earlier step; what came after it is forgotten.

        Raises:
            ConfigError: the step is not remembered, or the world did not repeat itself on the way back; then it is
                where the repetition led.
        """
        if not self.oldest <= step <= self.step_number:
            raise ConfigError(
                f"step {step} cannot be gone back to; steps {self.oldest} to {self.step_number} are remembered"
            )
        del self._moments[step - self.oldest + 1 :]
        del self.passages[step:]
        if self.present.snapshot is None:
            self._repeat()
        else:
            self.world.restore(self.present.snapshot)
        return self.present

    def rows(self, start: int, stop: int) -> Rows:
        """Rows of the steps start .. stop - 1, all of which are remembered, as is the moment after."""
        first = start - self.oldest
        seen, after = self._moments[first : first + stop - start], self._moments[first + 1 : first + 1 + stop - start]
        done = self.passages[start:stop]
        return Rows(
            images={name: np.stack([moment.frames[name] for moment in seen]) for name in seen[0].frames},
            state=np.stack([moment.state for moment in seen]),
            action=np.stack([passage.action for passage in done]),
            reward=np.array([passage.reward for passage in done], np.float32),
            success=np.array([moment.success for moment in after], bool),
            score=np.array([moment.score for moment in after], np.float32),
            trust=np.array([moment.trust for moment in after], np.float32),
            labels={name: np.stack([moment.labels[name] for moment in seen]) for name in seen[0].labels},
            intervention=np.array([passage.intervention for passage in done], bool),
        )

    def _forget(self) -> None:
        kept = 0 if self._kept_from is None else self.step_number + 1 - self._kept_from
        del self._moments[: -max(self._memory, kept)]

    def _repeat(self) -> None:
        observation, info = self.world.reset(seed=[self._seed], options=self._options)
        for passage in self.passages:
            observation, _, _, _, info = self.world.step(passage.action[None])
        if not _alike(_moment(observation, info, None), self.present):
            raise ConfigError(
                "this world did not repeat itself on the way back, so it cannot be taken back; "
                "keep or discard the take and start again"
            )


def _moment(observation: Mapping[str, np.ndarray], info: Mapping[str, Any], snapshot: Any) -> Moment:
    frames = {key.removeprefix(IMAGES): values[0] for key, values in observation.items() if key.startswith(IMAGES)}
    return Moment(
        frames=frames,
        state=observation["observation.state"][0],
        labels={name: values[0] for name, values in info.get("labels", {}).items()},
        success=bool(info["success"][0]),
        score=float(info["score"][0]),
        trust=float(info["trust"][0]),
        snapshot=snapshot,
    )


def _snapshot(world: World) -> Any:
    try:
        return world.snapshot()
    except NotImplementedError:
        return None


def _alike(one: Moment, other: Moment) -> bool:
    return np.array_equal(one.state, other.state) and all(
        np.array_equal(one.frames[name], other.frames[name]) for name in other.frames
    )
