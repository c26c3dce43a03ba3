"""A world of one counter and a stream that drives it: small enough to check by eye, and breakable on purpose."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ...storage.spec import Camera, EpisodeSpec, Vector
from ..stream import Observation
from ..world import World, as_seeds, bounded_actions, reset_mask


class CountingWorld(World):
    """Counts up to a goal: the count starts at seed % 5, an action in [-1, 1] is added to it.

    Each pixel of the frame is (8 x count, 0, 0), so that a frame that is late, lost or BGR shows; score is
    count / goal, success is count >= goal.
    """

    def __init__(self, num_envs: int, goal: int = 8, size: int = 16) -> None:
        vector = Vector(("count",), (-31.0,), (31.0,))
        spec = EpisodeSpec(
            fps=10,
            cameras=(Camera("top", size, size),),
            state=vector,
            action=Vector(("add",), (-1.0,), (1.0,)),
            labels={"count": vector},
            robot_type="counter",
        )
        super().__init__(spec, num_envs, f"Count to {goal}.")
        self.goal = goal
        self.seeds: list[int] = []
        self.steps: np.ndarray = np.zeros(num_envs, int)
        self.count: np.ndarray = np.zeros(num_envs, np.float32)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start at seed % 5, or at the state in `options["start"]`."""
        mask = reset_mask(options, self.num_envs, first=not self.seeds)
        seeds = [value or 0 for value in as_seeds(seed, self.num_envs)]
        self.seeds = [new if fresh else old for new, old, fresh in zip(seeds, self.seeds or seeds, mask, strict=True)]
        starts = np.array([value % 5 for value in self.seeds], np.float32)
        if options and options.get("start") is not None:
            starts = options["start"]["observation.state"][:, 0]
        self.count = np.where(mask, starts, self.count).astype(np.float32)
        self.steps = np.where(mask, 0, self.steps)
        return self._observation(), self._info()

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Add the actions."""
        self.count = np.clip(self.count + bounded_actions(actions, self.episode_spec, self.num_envs)[:, 0], -31, 31)
        self.steps += 1
        info = self._info()
        return self._observation(), info["score"].copy(), info["success"].copy(), np.zeros(self.num_envs, bool), info

    def snapshot(self) -> Any:
        """Seeds, steps and counts."""
        return list(self.seeds), self.steps.copy(), self.count.copy()

    def restore(self, snapshot: Any) -> dict[str, np.ndarray]:
        """Back to a snapshot."""
        seeds, steps, count = snapshot
        self.seeds, self.steps, self.count = list(seeds), steps.copy(), count.copy()
        return self._observation()

    def identity(self) -> dict[str, Any]:
        """Name and goal."""
        return {"name": "counting", "goal": self.goal}

    def _observation(self) -> dict[str, np.ndarray]:
        camera = self.episode_spec.cameras[0]
        image = np.zeros((self.num_envs, camera.height, camera.width, 3), np.uint8)
        image[..., 0] = np.clip(8 * self.count, 0, 255).astype(np.uint8)[:, None, None]
        return {"observation.images.top": image, "observation.state": self.count[:, None].copy()}

    def _info(self) -> dict[str, Any]:
        return {
            "success": self.count >= self.goal,
            "score": np.clip(self.count / self.goal, 0, 1).astype(np.float32),
            "trust": np.ones(self.num_envs, np.float32),
            "labels": {"count": self.count[:, None].copy()},
        }


class FaultyWorld(CountingWorld):
    """A CountingWorld that breaks on purpose, to test whatever hosts worlds.

    Args:
        fault: `raise` an exception, `hang` for ever, `die` (SIGKILL to its own process), `gorge` (take memory until
            someone ends the process), `dawdle` (a fifth of a second), or `doubt` (trust 0).
        at_step: when an episode meets the fault.
        seeds: whose episodes meet it; None: all.
        once: a file that is made as the fault strikes; while it is there, nothing strikes.
    """

    def __init__(
        self,
        num_envs: int,
        fault: Literal["raise", "hang", "die", "gorge", "dawdle", "doubt"],
        at_step: int = 3,
        seeds: Sequence[int] | None = None,
        once: str | None = None,
        goal: int = 8,
    ) -> None:
        super().__init__(num_envs, goal)
        self._fault, self._at_step, self._once = fault, at_step, once
        self._struck_seeds = None if seeds is None else set(seeds)

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Add the actions, unless the fault strikes."""
        result = super().step(actions)
        struck = self._struck()
        if self._fault == "doubt":
            result[-1]["trust"][struck] = 0
        elif struck.any() and not (self._once and os.path.exists(self._once)):
            self._strike()
        return result

    def _struck(self) -> np.ndarray:
        marked = [self._struck_seeds is None or seed in self._struck_seeds for seed in self.seeds]
        return np.array(marked) & (self.steps == self._at_step)

    def _strike(self) -> None:
        if self._once:
            with open(self._once, "x"):
                pass
        if self._fault == "raise":
            raise RuntimeError(f"the counter broke at step {self._at_step}")
        if self._fault == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self._fault == "gorge":
            _gorge()
        time.sleep(0.2 if self._fault == "dawdle" else 3600)


def _gorge() -> None:
    """Take 100 MB every tenth of a second, up to 4 GB."""
    taken = []
    for _ in range(40):
        taken.append(b"x" * 100_000_000)
        time.sleep(0.1)


class RandomCounts:
    """Adds uniform draws from [low, high], an own sequence for each seed; ends after `length` actions if given."""

    def __init__(self, spec: EpisodeSpec, low: float = 0.0, high: float = 1.0, length: int | None = None) -> None:
        self._low, self._high, self._length = low, high, length
        self._rngs: list[np.random.Generator] = []
        self._acted = np.zeros(0, int)

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """Start the masked slots' sequences."""
        if not self._rngs:
            self._rngs = [np.random.default_rng() for _ in seeds]
            self._acted = np.zeros(len(seeds), int)
        for slot in np.flatnonzero(mask):
            self._rngs[slot] = np.random.default_rng(seeds[slot])
            self._acted[slot] = 0

    def act(self, observation: Observation) -> np.ndarray:
        """The next draw of each slot."""
        self._acted += 1
        return np.array([[rng.uniform(self._low, self._high)] for rng in self._rngs], np.float32)

    def finished(self) -> np.ndarray:
        """Slots that have acted `length` times."""
        return np.zeros(len(self._acted), bool) if self._length is None else self._acted >= self._length
