"""One person's session in one world: driving, recording, going back, keeping. No transport and no clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...generators.world import World
from ...storage.episode import Episode
from ...storage.errors import ConfigError
from ...storage.spec import EpisodeSpec
from .beside import Beside
from .journey import Journey
from .kept_takes import KeptTakes
from .settings import DriveSettings
from .starts import Start, Starts
from .takes import Made, take_of


@dataclass(frozen=True)
class Seen:
    """What there is to see and to know after a step.

    Args:
        frames: camera name -> (H, W, 3) uint8 RGB.
        reality: the same of reality beside it; None where it is not shown.
        state: (S,) float32.
        score, trust: in [0, 1].
        success: whether the task is solved.
        step: steps since the start.
        length: rows of the take.
        recording: whether the next step becomes a row of a take.
        ended: whether a take has ended, and waits to be kept or discarded; the world stands still until then.
    """

    frames: Mapping[str, np.ndarray]
    reality: Mapping[str, np.ndarray] | None
    state: np.ndarray
    score: float
    trust: float
    success: bool
    step: int
    length: int
    recording: bool
    ended: bool


class Drive:
    """Drives a world of one slot by one action a step, and records what is asked for.

    A take is under way from `record` on; every step adds one row to it. It ends by `record`, or by itself when it is
    as long as it may be, and then waits: `record` goes on with it, `keep` stores it, `discard` and `redo` forget it.

    Args:
        world: of one slot.
        takes: where takes are kept.
        starts: what starts are drawn or chosen from.
        settings: how takes are recorded.
        make_reality: makes a reality of one slot to show beside the world; None where there is none.

    Raises:
        ConfigError: the world has several slots.
    """

    def __init__(
        self, world: World, takes: KeptTakes, starts: Starts, settings: DriveSettings | None = None,
        make_reality: Callable[[], World] | None = None,
    ) -> None:  # fmt: skip
        self.world, self.takes, self.starts = world, takes, starts
        self.settings = settings or DriveSettings()
        self._make_reality = make_reality
        self._reality: World | None = None
        self._beside: Beside | None = None
        self._first: int | None = None
        self._num_undone = 0
        # Lost: the world could not be brought back to where the take was.
        self._ended = self._lost = False
        self._begin(starts.draw())

    def look(self) -> Seen:
        """What there is to see now."""
        present = self._journey.present
        return Seen(
            frames=present.frames,
            reality=None if self._beside is None else self._beside.frames,
            state=present.state,
            score=present.score,
            trust=present.trust,
            success=present.success,
            step=self._journey.step_number,
            length=self.length,
            recording=self._first is not None and not self._ended,
            ended=self._ended,
        )

    @property
    def length(self) -> int:
        """Rows of the take."""
        return 0 if self._first is None else self._journey.step_number - self._first

    def tick(self, action: np.ndarray, intervention: bool = True) -> Seen:
        """Advance the world by one step.

        Args:
            action: (A,), clipped to the bounds; what is recorded is what was applied.
            intervention: whether a person commanded it, and not a policy.

        Raises:
            ConfigError: the take has ended and waits.
            ValueError: the action has another shape, or an entry that is no number. Nothing has happened then.
        """
        if self._ended:
            raise ConfigError("the take has ended; keep it, discard it, or record on")
        self._journey.step(action, intervention)
        self._ended = self.length >= self.settings.max_steps
        return self._after_moving()

    def start(self, seed: int | None = None, index: int | None = None) -> Seen:
        """Start anew: at the recorded frame `index`, or where `seed` leads, or the next by chance.

        Raises:
            ConfigError: a take is under way, there is no such frame, or the seed is negative.
        """
        if self._first is not None:
            raise ConfigError("a take is under way; keep it or discard it first")
        if seed is not None and seed < 0:
            raise ConfigError(f"a seed must be 0 or more, got {seed}")
        if index is not None:
            self._begin(self.starts.by_index(index))
        else:
            self._begin(self.starts.draw() if seed is None else self.starts.by_seed(seed))
        return self.look()

    def record(self) -> Seen:
        """Begin a take here, end the one under way, or go on with one that has ended.

        Raises:
            ConfigError: it is as long as a take may be, or the world is elsewhere than where it ended.
        """
        if self._first is None:
            self._first = self._journey.step_number
            self._journey.keep_from(self._first)
        elif not self._ended:
            self._ended = True
        else:
            self._require_can_go_on()
            self._ended = False
        return self.look()

    def keep(self, notes: Mapping[str, Any] | None = None) -> Episode:
        """Store the take, without its idle ends, and go on to the next start.

        Args:
            notes: what else is to be kept in its lineage.

        Returns:
            The take as it was stored.

        Raises:
            ConfigError: there is no take, or it has no step.
            StoreError: the disk is full; the take is still there.
        """
        if self._first is None or self.length == 0:
            raise ConfigError("there is no take to keep; record one first")
        rows = self._journey.rows(self._first, self._journey.step_number)
        made = Made(self.world, self._start, {"num_undone": self._num_undone, **(notes or {})})
        episode = self.takes.add(lambda index: take_of(rows, index, made, self.takes.spec, self.settings))
        self._begin(self.starts.draw())
        return episode

    def discard(self) -> Seen:
        """Forget the take and go on to the next start; ConfigError if there is none."""
        self._require_take("discard")
        self._begin(self.starts.draw())
        return self.look()

    def redo(self) -> Seen:
        """Forget the take and begin it again from the same start; without one, only start again there."""
        recording = self._first is not None
        self._begin(self._start)
        return self.record() if recording else self.look()

    def undo(self, steps: int) -> Seen:
        """Go back so many steps, at most to where the take began (or to what is remembered) and go on from there.

        Raises:
            ConfigError: less than one step, or the world cannot be taken back.
        """
        if steps < 1:
            raise ConfigError(f"undo takes a number of steps of at least 1, got {steps}")
        return self.seek(max(self._earliest, self._journey.step_number - steps))

    def seek(self, step: int) -> Seen:
        """Go back to a step (counted from the start, as `Seen.step` is); rows after it are dropped.

        Raises:
            ConfigError: it is not among those that can be gone back to, or the world cannot be taken back.
        """
        now = self._journey.step_number
        if not self._earliest <= step <= now:
            raise ConfigError(f"step {step} cannot be gone back to; choose one from {self._earliest} to {now}")
        self._num_undone += now - step
        try:
            self._journey.back_to(step)
        except ConfigError:
            self._ended = self._lost = self._first is not None
            raise
        self._ended = False
        return self._after_moving()

    def show_reality(self, shown: bool) -> Seen:
        """Show reality beside the world, from the same start under the same actions, or no longer.

        Raises:
            ConfigError: there is no reality, or it cannot be put where this world started.
        """
        self._beside = self._new_beside() if shown else None
        return self._after_moving()

    @property
    def _earliest(self) -> int:
        return self._journey.oldest if self._first is None else self._first

    def _begin(self, start: Start) -> None:
        self._journey = Journey(self.world, start.seed, self.starts.options(start), self.settings.memory)
        self._start = start
        self._first, self._num_undone = None, 0
        self._ended = self._lost = False
        self._beside = None if self._beside is None else self._new_beside()

    def _after_moving(self) -> Seen:
        if self._beside is not None:
            self._beside.follow(self._journey.passages)
        return self.look()

    def _new_beside(self) -> Beside:
        if self._make_reality is None:
            raise ConfigError("there is no reality to show beside this world; drive a world of a task that has one")
        self._reality = self._reality or self._make_reality()
        return Beside(self._reality, self._journey.start_state, self._journey.start_facts)

    def _require_take(self, what: str) -> None:
        if self._first is None:
            raise ConfigError(f"there is no take to {what}; record one first")

    def _require_can_go_on(self) -> None:
        if self._lost:
            raise ConfigError("the world is no longer where the take ended; keep it or discard it")
        if self.length >= self.settings.max_steps:
            raise ConfigError(f"a take has at most {self.settings.max_steps} steps; keep it or discard it")


def take_spec(world: World) -> EpisodeSpec:
    """What takes recorded in a world hold: all that its episodes do, and who drove."""
    return replace(world.episode_spec, intervention=True)
