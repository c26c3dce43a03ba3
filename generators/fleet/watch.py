"""What whoever watches a fleet is told: figures of the whole and of each worker, about once a second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True)
class WorkerStatus:
    """One place in the fleet; who takes over from a lost worker goes on counting.

    Args:
        worker: 0, 1, 2, ...
        num_episodes: made since the fleet began.
        num_frames: in these; frames count once their episode is stored.
        frames_per_s: lately.
    """

    worker: int
    num_episodes: int
    num_frames: int
    frames_per_s: float


@dataclass(frozen=True)
class FleetStatus:
    """A fleet at one moment.

    Args:
        seconds: since it began.
        done: episodes or demonstrations so far; what an earlier try made counts.
        total: how many are wanted.
        num_attempts: episodes that have ended, in whatever order.
        num_demonstrations: successful, trusted ones among them.
        num_frames: made since the fleet began.
        frames_per_s: lately.
        eta_s: how long the rest takes at the pace so far; None: not known yet.
        disk_used: bytes that all episodes take, from those looked at.
        disk_free: bytes left on the disk of the store.
        num_lost: workers lost since the fleet began.
        num_redone: episodes begun once more for that.
        num_ready: workers that have a place and have loaded their world.
        workers: each one.
    """

    seconds: float
    done: int
    total: int
    num_attempts: int
    num_demonstrations: int
    num_frames: int
    frames_per_s: float
    eta_s: float | None
    disk_used: int
    disk_free: int
    num_lost: int
    num_redone: int
    num_ready: int
    workers: tuple[WorkerStatus, ...]


@runtime_checkable
class Watch(Protocol):
    """A progress (see `storage.progress`) that wants to know more of fleets."""

    def __call__(self, done: int, total: int, message: str) -> None:
        """See `storage.progress.Progress`."""

    def fleet(self, status: FleetStatus) -> None:
        """Take note of how a fleet is getting on."""
