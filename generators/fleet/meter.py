"""Measures a fleet while it works, from what its workers have stored."""

from __future__ import annotations

import shutil
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from ...storage.episode import EpisodeSummary
from ...storage.progress import Progress
from .supply import Supply
from .watch import FleetStatus, Watch, WorkerStatus

INTERVAL_S = 1.0
#: Frames come in bursts, when the episodes of a batch end.
WINDOW_S = 60.0

Clock = Callable[[], float]


class Pace:
    """Episodes and frames counted, and how many frames a second lately."""

    def __init__(self, clock: Clock) -> None:
        self.num_episodes = self.num_frames = 0
        self._clock, self._began = clock, clock()
        self._lately: deque[tuple[float, int]] = deque()

    def count(self, num_frames: int) -> None:
        """One more episode."""
        self.num_episodes += 1
        self.num_frames += num_frames
        self._lately.append((self._clock(), num_frames))

    def frames_per_s(self) -> float:
        """Over the last minute, or since the beginning if that is shorter."""
        now = self._clock()
        while self._lately and now - self._lately[0][0] > WINDOW_S:
            self._lately.popleft()
        elapsed = min(WINDOW_S, now - self._began)
        return sum(frames for _, frames in self._lately) / elapsed if elapsed > 0 else 0.0


class Meter:
    """Counts what a fleet makes and loses, and tells a watch about once a second.

    Args:
        progress: who is told; a progress that is no `Watch` is told nothing here.
        supply: what is made.
        store: where to.
        num_workers: how many places the fleet has.
        clock: seconds from some moment on.
    """

    def __init__(
        self, progress: Progress, supply: Supply, store: Path, num_workers: int, clock: Clock = time.monotonic
    ) -> None:
        self._watch = progress if isinstance(progress, Watch) else None
        self._supply, self._store, self._clock = supply, store, clock
        self._began = clock()
        self._told = float("-inf")
        self._done_before = supply.standing()[0]
        self._fleet = Pace(clock)
        self._workers = [Pace(clock) for _ in range(num_workers)]
        self._num_lost = self._num_redone = self._num_ready = 0
        self._weighed = self._weight = 0
        self._last_id = ""

    def made(self, worker: int, summary: EpisodeSummary) -> None:
        """An episode has ended."""
        self._fleet.count(summary.length)
        self._workers[worker].count(summary.length)
        # One of which no row could be kept does not stand in the store.
        self._last_id = summary.id if summary.length else self._last_id

    def lost(self, num_redone: int) -> None:
        """A worker was lost, and so many episodes are begun once more."""
        self._num_lost += 1
        self._num_redone += num_redone

    def tell(self, num_ready: int, at_once: bool = False) -> None:
        """Tell the watch, unless it was told just now; of `num_ready` workers that have begun."""
        self._num_ready = num_ready
        if self._watch is None or (self._clock() - self._told < INTERVAL_S and not at_once):
            return
        self._told = self._clock()
        self._weigh()
        self._watch.fleet(self.status())

    def status(self) -> FleetStatus:
        """How the fleet is getting on."""
        done, total, _ = self._supply.standing()
        num_attempts, num_demonstrations = self._supply.counts()
        return FleetStatus(
            seconds=self._clock() - self._began,
            done=done,
            total=total,
            num_attempts=num_attempts,
            num_demonstrations=num_demonstrations,
            num_frames=self._fleet.num_frames,
            frames_per_s=self._fleet.frames_per_s(),
            eta_s=self._eta_s(done, total),
            disk_used=round(num_attempts * self._weight / max(1, self._weighed)),
            disk_free=shutil.disk_usage(_there(self._store)).free,
            num_lost=self._num_lost,
            num_redone=self._num_redone,
            num_ready=self._num_ready,
            workers=tuple(
                WorkerStatus(place, pace.num_episodes, pace.num_frames, pace.frames_per_s())
                for place, pace in enumerate(self._workers)
            ),
        )

    def _eta_s(self, done: int, total: int) -> float | None:
        made = done - self._done_before
        return (total - done) * (self._clock() - self._began) / made if made > 0 else None

    def _weigh(self) -> None:
        """Look how large one episode is: to look at each would take a network file system long."""
        if self._last_id:
            folder = self._store / "episodes" / self._last_id
            self._weight += sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
            self._weighed += 1
            self._last_id = ""


def _there(path: Path) -> Path:
    """The nearest folder above a path that is there already."""
    return next(folder for folder in (path, *path.parents) if folder.exists())
