"""Faults of single rows and frames, added up to one finding for each episode and field; and what was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .finding import Finding, Mend


@dataclass(frozen=True)
class Fault:
    """A fault of one or more rows of an episode.

    Args:
        field: column or camera at fault.
        what: a clause about the first of them.
        remedy: what to do.
        count: how many rows or frames have it.
        mend: as in `Finding`.
    """

    field: str
    what: str
    remedy: str
    count: int = 1
    mend: Mend | None = None


class Tally:
    """Keeps the first fault of each episode, field and remedy, and counts the rest and all that is read."""

    def __init__(self) -> None:
        self.episodes = 0
        self.rows = 0
        self.frames = 0
        self._faults: dict[tuple[str | None, str, str], tuple[Fault, int]] = {}

    def add(self, episode: str | None, faults: Iterable[Fault]) -> None:
        """Note the faults of an episode."""
        for fault in faults:
            key = (episode, fault.field, fault.remedy)
            first, count = self._faults.get(key, (fault, 0))
            self._faults[key] = (first, count + fault.count)

    def findings(self) -> Iterator[Finding]:
        """A finding for each episode, field and remedy, in the order of the first fault."""
        for (episode, field, remedy), (first, count) in self._faults.items():
            more = f" (and {count - 1} more)" if count > 1 else ""
            yield Finding(field=field, message=f"{first.what}{more}; {remedy}", episode=episode, mend=first.mend)
