"""Which episodes of a dataset are meant."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import get_args

import numpy as np

from ..convert import check_ids
from ..dataset import EpisodeReader
from ..episode import EpisodeSummary, Outcome
from ..errors import ConfigError, StoreError


@dataclass(frozen=True)
class Selection:
    """Episodes that meet every condition given; a condition that is not given holds for all.

    Args:
        ids: one of these.
        indices: an index in one of these ranges.
        outcomes: one of these.
        task: the task's text, with the shell's wildcards `*` and `?`.
        min_score: the best score of any step is at least this.
        min_trust: the least trust of any step is at least this.

    Raises:
        ConfigError: there is no such outcome, or a bound lies outside [0, 1].
    """

    ids: Collection[str] | None = None
    indices: Sequence[range] | None = None
    outcomes: Collection[Outcome] | None = None
    task: str | None = None
    min_score: float = 0.0
    min_trust: float = 0.0

    def __post_init__(self) -> None:
        for outcome in self.outcomes or ():
            if outcome not in get_args(Outcome):
                raise ConfigError(f"outcome must be one of {', '.join(get_args(Outcome))}, got {outcome!r}")
        for name in ("min_score", "min_trust"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} must lie in [0, 1], got {getattr(self, name)}")

    def matches(self, episode: EpisodeSummary) -> bool:
        """Whether an episode meets every condition."""
        return all(self._answers(episode))

    def _answers(self, episode: EpisodeSummary) -> Iterator[bool]:
        yield self.ids is None or episode.id in self.ids
        yield self.indices is None or any(episode.index in span for span in self.indices)
        yield self.outcomes is None or episode.outcome in self.outcomes
        yield self.task is None or fnmatchcase(episode.task, self.task)
        yield episode.score_max >= self.min_score
        yield episode.trust_min >= self.min_trust


def select(source: EpisodeReader, selection: Selection, *, drop: bool = False) -> list[str]:
    """The ids of the episodes that are meant, or with `drop` of all others, in the order of the source.

    Raises:
        StoreError: an id in the selection is not in the source, or no episode is left.
    """
    check_ids(source, selection.ids or ())
    chosen = [episode.id for episode in source.summaries() if selection.matches(episode) != drop]
    if not chosen:
        raise StoreError(
            f"of the {len(source)} episodes of {source.path} none is left by this selection; "
            "`demoloom inspect` shows what they hold"
        )
    return chosen


def thin(ids: Sequence[str], count: int, seed: int | None = None) -> list[str]:
    """So many of the ids, in their order: evenly spread, or with a seed at random.

    Raises:
        ConfigError: there are not so many.
    """
    if not 1 <= count <= len(ids):
        raise ConfigError(f"count must be 1 .. {len(ids)} (the episodes selected), got {count}")
    if seed is not None:
        places = sorted(np.random.default_rng(seed).choice(len(ids), count, replace=False).tolist())
    else:
        # The middle of each of `count` equal parts.
        places = [(2 * part + 1) * len(ids) // (2 * count) for part in range(count)]
    return [ids[place] for place in places]


def index_range(text: str) -> range:
    """`7` or `10:20` (without 20) as a range of indices.

    Raises:
        ConfigError: the text is neither.
    """
    first, colon, end = text.partition(":")
    if not first.isdecimal() or (colon and not end.isdecimal()):
        raise ConfigError(f"an index range is a number or two with a colon, such as 10:20 (without 20), got {text!r}")
    return range(int(first), int(end) if colon else int(first) + 1)
