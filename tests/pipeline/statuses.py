"""A fleet's status to show and record."""

from __future__ import annotations

from typing import Any

from demoloom.generators.fleet.watch import FleetStatus, WorkerStatus


def fleet_status(num_workers: int = 2, **changes: Any) -> FleetStatus:
    """Worker i makes 100 + i frames/s; 37 of 200 demonstrations are there."""
    workers = tuple(WorkerStatus(place, 10 + place, 1000, 100.0 + place) for place in range(num_workers))
    settings: dict[str, Any] = {
        "seconds": 60.0,
        "done": 37,
        "total": 200,
        "num_attempts": 62,
        "num_demonstrations": 37,
        "num_frames": 1000 * num_workers,
        "frames_per_s": 201.04,
        "eta_s": 580.0,
        "disk_used": 310_000_000,
        "disk_free": 211_400_000_000,
        "num_lost": 0,
        "num_redone": 0,
        "num_ready": num_workers,
        "workers": workers,
    }
    return FleetStatus(**{**settings, **changes})
