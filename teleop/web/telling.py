"""Which changes of a session's state are worth a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Seconds between two messages of what changes with every step.
_INTERVAL_S = 0.5


class Telling:
    """Remembers what was told."""

    def __init__(self) -> None:
        self._told: Mapping[str, Any] = {}
        self._told_at = 0.0

    def forget(self) -> None:
        """Whatever comes next is news to somebody."""
        self._told = {}

    def is_due(self, lasting: Mapping[str, Any], moving: bool, now: float) -> bool:
        """Whether to tell the state now; from then on it is told.

        Args:
            lasting: what of it does not change with every step: told at once when it changes.
            moving: whether the world does, so that the rest changes.
            now: seconds.
        """
        if lasting == self._told and not (moving and now - self._told_at >= _INTERVAL_S):
            return False
        self._told, self._told_at = dict(lasting), now
        return True
