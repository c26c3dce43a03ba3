"""Stand-ins for what is not on this machine: a world that waits as for a GPU, and a store on a slow file system."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from demoloom.generators.plan import RolloutPlan
from demoloom.generators.testing.counting import CountingWorld
from demoloom.storage.episode import Episode
from demoloom.storage.plugins import PluginRef
from demoloom.storage.spec import EpisodeSpec
from demoloom.storage.zarr_store import ZarrStore


class WaitingWorld(CountingWorld):
    """A counter with frames of 64 pixels, each step of which takes `step_s` seconds and leaves the core free."""

    def __init__(self, num_envs: int, step_s: float, goal: int) -> None:
        super().__init__(num_envs, goal, size=64)
        self._step_s = step_s

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Wait, then count."""
        time.sleep(self._step_s)
        return super().step(actions)


class SlowStore(ZarrStore):
    """A ZarrStore, made before, that keeps its writer waiting for `latency_s` at each episode, as over a network."""

    def __init__(self, path: Path, spec: EpisodeSpec, latency_s: float) -> None:
        super().__init__(path, spec)
        self._latency_s = latency_s

    def append(self, episode: Episode) -> bool:
        """Wait, then store."""
        time.sleep(self._latency_s)
        return super().append(episode)


def waiting_plan(num_slots: int, max_steps: int, step_s: float, goal: int = 1000) -> RolloutPlan:
    """Random counts in a WaitingWorld; a goal of more than 31 is never reached, so that all episodes are as long."""
    return RolloutPlan(
        stage="benchmark",
        world=PluginRef("worlds", "fleet_standins:WaitingWorld", {"step_s": step_s, "goal": goal}),
        stream=PluginRef("streams", "demoloom.generators.testing:RandomCounts"),
        run_seed=0,
        max_steps=max_steps,
        num_slots=num_slots,
    )
