"""Several who watch the same work."""

from __future__ import annotations

from ..generators.fleet.watch import FleetStatus, Watch
from ..storage.progress import Progress


class Watchers:
    """A watch that passes on all it is told.

    Args:
        told: progresses; those that are a `Watch` hear of fleets too.
    """

    def __init__(self, *told: Progress) -> None:
        self._told = told

    def __call__(self, done: int, total: int, message: str) -> None:
        """See `storage.progress.Progress`."""
        for progress in self._told:
            progress(done, total, message)

    def fleet(self, status: FleetStatus) -> None:
        """See Watch."""
        for progress in self._told:
            if isinstance(progress, Watch):
                progress.fleet(status)
