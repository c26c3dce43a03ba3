"""Which start states demonstrations begin in, by cells into which these are divided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import Any

from ...storage.episode import EpisodeSummary
from ...storage.errors import ConfigError

#: The part of an episode's lineage that says where it started: name of a dimension -> value in its unit.
START = "start"

Cell = tuple[int, ...]


@dataclass(frozen=True)
class CoverageRule:
    """When start states are covered; without `cells` always.

    A start can be reached if an attempt had it, so that the more attempts there are the more cells have to be covered.

    Args:
        cells: what divides starts, as `NAME=WIDTH` of dimensions of state and labels, apart by spaces:
            `agent_x=128 block_pose.x=64`. Starts in the same 128 wide column and the same 64 wide one share a cell.
        min_each: a cell is covered by so many demonstrations.
        share: of the cells in which attempts started, so large a part must be covered.

    Raises:
        ConfigError: `cells` cannot be read, or a number is out of its range.
    """

    cells: str = ""
    min_each: int = 1
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.min_each < 1:
            raise ConfigError(f"min_each of a coverage must be at least 1, got {self.min_each}")
        if not 0 < self.share <= 1:
            raise ConfigError(f"share of a coverage must lie above 0 and not above 1, got {self.share}")
        if not all(width > 0 for width in self.widths.values()):
            raise ConfigError(f"the widths of cells must be more than 0, got {self.cells!r}")

    @cached_property
    def widths(self) -> Mapping[str, float]:
        """Name of a dimension -> width of a cell in its unit."""
        try:
            pairs = [part.split("=") for part in self.cells.split()]
            return {name: float(width) for name, width in pairs}
        except ValueError as error:
            raise ConfigError(f"cannot read the cells {self.cells!r}; write NAME=WIDTH, apart by spaces") from error

    def cell(self, start: Mapping[str, float]) -> Cell:
        """The cell of a start.

        Raises:
            ConfigError: the start lacks one of the dimensions.
        """
        unknown = [name for name in self.widths if name not in start]
        if unknown:
            raise ConfigError(f"starts have no {unknown[0]!r} to divide by; there are {', '.join(start) or 'none'}")
        return tuple(floor(start[name] / width) for name, width in self.widths.items())


class Coverage:
    """Counts attempts and demonstrations by the cell in which they started."""

    def __init__(self, rule: CoverageRule) -> None:
        self._rule = rule
        self._demonstrations: Counter[Cell] = Counter()

    def count(self, attempt: EpisodeSummary) -> None:
        """Take in an attempt; one of which nothing is known but an exception has no start."""
        if self._rule.cells and START in attempt.lineage:
            self._demonstrations[self._rule.cell(attempt.lineage[START])] += attempt.is_demonstration

    @property
    def is_reached(self) -> bool:
        """Whether so many cells are covered as the rule asks for."""
        return self._num_covered() >= self._rule.share * len(self._demonstrations)

    def sentence(self) -> str:
        """`14 of 16 start cells have a demonstration`; empty without cells."""
        if not self._rule.cells:
            return ""
        least = "a demonstration" if self._rule.min_each == 1 else f"{self._rule.min_each} demonstrations"
        return f"{self._num_covered()} of {len(self._demonstrations)} start cells have {least}"

    def table(self) -> list[dict[str, Any]]:
        """One row for each cell: its lowest corner by dimension, and its demonstrations; the emptiest first."""
        ranked = sorted(self._demonstrations.items(), key=lambda item: (item[1], item[0]))
        return [
            {name: place * width for (name, width), place in zip(self._rule.widths.items(), cell, strict=True)}
            | {"demonstrations": count}
            for cell, count in ranked
        ]

    def _num_covered(self) -> int:
        return sum(count >= self._rule.min_each for count in self._demonstrations.values())
