"""A fleet's figures as Ray metrics, which Prometheus collects from Ray's own endpoint."""

from __future__ import annotations

from typing import Any

from .watch import FleetStatus

#: Gauge -> the field of FleetStatus it shows.
GAUGES = {
    "demoloom_done": "done",
    "demoloom_workers_ready": "num_ready",
    "demoloom_wanted": "total",
    "demoloom_attempts": "num_attempts",
    "demoloom_demonstrations": "num_demonstrations",
    "demoloom_frames_per_s": "frames_per_s",
    "demoloom_eta_s": "eta_s",
    "demoloom_disk_used_bytes": "disk_used",
    "demoloom_disk_free_bytes": "disk_free",
}
#: Counter -> the field whose growth it counts.
COUNTERS = {
    "demoloom_frames": "num_frames",
    "demoloom_workers_lost": "num_lost",
    "demoloom_episodes_redone": "num_redone",
}
WORKER_GAUGE = "demoloom_worker_frames_per_s"


class RayMetrics:
    """A watch that sets metrics with the tags `run` and `stage`; without Ray's metrics agent nobody can read them.

    Args:
        run: name of the run.
        stage: at which the fleet works.
    """

    def __init__(self, run: str, stage: str) -> None:
        self._tags = {"run": run, "stage": stage}
        self._metrics: dict[str, Any] = {}
        self._counted = dict.fromkeys(COUNTERS, 0)

    def __call__(self, done: int, total: int, message: str) -> None:
        """What is no fleet has no metrics."""

    def fleet(self, status: FleetStatus) -> None:
        """See Watch."""
        metrics = self._metrics or self._register()
        for name, field in GAUGES.items():
            value = getattr(status, field)
            metrics[name].set(float("nan") if value is None else value, tags=self._tags)
        for name, field in COUNTERS.items():
            value, before = getattr(status, field), self._counted[name]
            grown = value - before if value >= before else value  # a stage's next fleet begins at zero
            if grown:
                metrics[name].inc(grown, tags=self._tags)
            self._counted[name] = value
        for worker in status.workers:
            metrics[WORKER_GAUGE].set(worker.frames_per_s, tags={**self._tags, "worker": str(worker.worker)})

    def _register(self) -> dict[str, Any]:
        from ray.util.metrics import Counter, Gauge

        tags = tuple(self._tags)
        self._metrics |= {name: Gauge(name, f"See {field}.", tag_keys=tags) for name, field in GAUGES.items()}
        self._metrics |= {name: Counter(name, f"See {field}.", tag_keys=tags) for name, field in COUNTERS.items()}
        self._metrics[WORKER_GAUGE] = Gauge(WORKER_GAUGE, "Of one worker.", tag_keys=(*tags, "worker"))
        return self._metrics
