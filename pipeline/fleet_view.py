"""What a person reads of a fleet at work: one sentence for a log, some lines for a terminal."""

from __future__ import annotations

from statistics import median

from ..generators.fleet.watch import FleetStatus, WorkerStatus
from .spoken import spoken_size, spoken_time

_MOST_WORKERS = 8


def fleet_sentence(status: FleetStatus) -> str:
    """`2 workers, 412 frames/s, 9 min 40 s left, 310 MB of episodes, 211 GB free`, and what was lost."""
    parts = [
        _workers(status),
        f"{status.frames_per_s:.0f} frames/s",
        "" if status.eta_s is None else f"{spoken_time(status.eta_s)} left",
        f"{spoken_size(status.disk_used)} of episodes" if status.disk_used else "",
        f"{spoken_size(status.disk_free)} free",
        f"{_counted(status.num_lost, 'worker')} lost" if status.num_lost else "",
        f"{_counted(status.num_redone, 'episode')} begun once more" if status.num_redone else "",
    ]
    return ", ".join(filter(None, parts))


def worker_lines(status: FleetStatus) -> list[str]:
    """A line for each worker; of more than eight the slowest, the middle one and the fastest."""
    if len(status.workers) <= _MOST_WORKERS:
        return [f"worker {one.worker}: {_work(one)}" for one in status.workers]
    ranked = sorted(status.workers, key=lambda one: one.frames_per_s)
    return [
        f"slowest, worker {ranked[0].worker}: {_work(ranked[0])}",
        f"half are faster than {median(one.frames_per_s for one in ranked):.0f} frames/s",
        f"fastest, worker {ranked[-1].worker}: {_work(ranked[-1])}",
    ]


def _workers(status: FleetStatus) -> str:
    counted = _counted(len(status.workers), "worker")
    return counted if status.num_ready == len(status.workers) else f"{status.num_ready} of {counted} ready"


def _work(worker: WorkerStatus) -> str:
    return f"{worker.frames_per_s:.0f} frames/s, {_counted(worker.num_episodes, 'episode')}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
