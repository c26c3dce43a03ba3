"""Whether the driver and a worker of a fleet grow with the number of episodes."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from demoloom.generators.fleet import FleetConfig, ray_session, run_episodes
from demoloom.generators.plan import RolloutPlan


@dataclass(frozen=True)
class Memory:
    """What a run held while it went on.

    Args:
        episodes: (L,) how many there were at each look.
        driver_mb: (L,) megabytes of the driver that it shares with no other process.
        worker_mb: (L,) the same of the largest worker.
        object_store_mb: held by Ray's object store at the end.
        driver_s: seconds of cores that the driver used for an episode, between the first look and the last.
    """

    episodes: np.ndarray
    driver_mb: np.ndarray
    worker_mb: np.ndarray
    object_store_mb: float
    driver_s: float

    def growth(self, resident_mb: np.ndarray) -> float:
        """Most that was held at any later look, less what was held at the first."""
        return float(resident_mb[1:].max() - resident_mb[0])


def watch_memory(plan: RolloutPlan, num_episodes: int, store: Path, num_workers: int) -> Memory:
    """Make so many episodes and look ten times meanwhile."""
    import ray

    looks: dict[int, list[float]] = {}
    every = num_episodes // 10

    def look(done: int, total: int, message: str) -> None:
        if done and done % every == 0 and done not in looks:
            worker_mb = max(map(resident_mb, worker_pids()), default=0.0)
            looks[done] = [resident_mb(os.getpid()), worker_mb, time.process_time()]

    config = FleetConfig(num_workers=num_workers)
    with ray_session(config):
        run_episodes(plan, range(num_episodes), store, config=config, progress=look)
        there, free = ray.cluster_resources(), ray.available_resources()
    held = there["object_store_memory"] - free["object_store_memory"]
    episodes, (driver_mb, worker_mb, spent_s) = np.array(list(looks)), np.array(list(looks.values())).T
    driver_s = float((spent_s[-1] - spent_s[0]) / (episodes[-1] - episodes[0]))
    return Memory(episodes, driver_mb, worker_mb, held / 1e6, driver_s)


def resident_mb(pid: int) -> float:
    """Megabytes that a process holds and shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1000


def worker_pids() -> list[int]:
    """The processes of this process's workers: other fleets may be on the machine."""
    return [pid for pid in descendants(os.getpid()) if "ray::WorkerShell" in Path(f"/proc/{pid}/cmdline").read_text()]


def descendants(pid: int) -> Iterator[int]:
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, file.read_text().split()):
            yield child
            yield from descendants(child)
