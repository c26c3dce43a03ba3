"""Which episodes of a large dataset are shown one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ...storage.episode import EpisodeSummary
from ...storage.errors import ConfigError
from .distributions import evenly


def shown_episodes(summaries: Sequence[EpisodeSummary], most: int) -> list[EpisodeSummary]:
    """At most `most` episodes, in their order; 0 means all.

    Every outcome has the same share of them, if it has so many, and they are evenly spread within it: the few that
    failed are what one looks for.

    Raises:
        ConfigError: `most` is negative.
    """
    if most < 0:
        raise ConfigError(f"the number of episodes to show must be 0 or more, got {most}")
    if most == 0 or most >= len(summaries):
        return list(summaries)
    by_outcome: dict[str, list[int]] = defaultdict(list)
    for number, summary in enumerate(summaries):
        by_outcome[summary.outcome].append(number)
    chosen: list[int] = []
    # The rare ones first, so that what they leave goes to the frequent ones.
    groups = sorted(by_outcome.values(), key=len)
    for waiting, group in zip(range(len(groups), 0, -1), groups, strict=True):
        share = (most - len(chosen)) // waiting
        chosen += [group[number] for number in evenly(len(group), share)]
    return [summaries[number] for number in sorted(chosen)]


def spread_first(count: int) -> list[int]:
    """0 .. count - 1 in an order of which every beginning is spread over all (van der Corput's sequence, base 2)."""
    width = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda number: int(f"{number:0{width}b}"[::-1], 2))
