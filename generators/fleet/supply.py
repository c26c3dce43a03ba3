"""Which episodes are still to be made: a fixed set, or as many as it takes for so many demonstrations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, islice, takewhile
from math import ceil, sqrt
from typing import Protocol

from ...storage.episode import EpisodeSummary
from ..plan import RolloutPlan
from .coverage import Coverage
from .stop_rules import Attempts, StopRules, Tally
from .stopwatch import Stopwatch


class Supply(Protocol):
    """Hands out indices and takes in the summaries of what they became."""

    def take(self, num_workers: int) -> list[int]:
        """The indices of the next call to a worker, no more than it has slots; none while there is only to wait."""
        ...

    def settle(self, summary: EpisodeSummary) -> None:
        """Note what one index became."""
        ...

    @property
    def done(self) -> bool:
        """Whether nothing is left to make or to wait for."""
        ...

    def standing(self) -> tuple[int, int, str]:
        """(done, total, message) for whoever watches."""
        ...

    def counts(self) -> tuple[int, int]:
        """(episodes that have ended, demonstrations among them), in whatever order they ended."""
        ...


class Fixed:
    """Exactly these indices, in rounds that keep all workers equally busy."""

    def __init__(self, plan: RolloutPlan, indices: Sequence[int], held: Iterable[EpisodeSummary]) -> None:
        wanted = frozenset(indices)
        self._indices = indices
        self._became = {summary.index: summary for summary in held if summary.index in wanted}
        self._num_demonstrations = sum(summary.is_demonstration for summary in self._became.values())
        self._left = [index for index in indices if index not in self._became]
        self._num_slots = plan.num_slots
        self._size = 0

    def take(self, num_workers: int) -> list[int]:
        """See Supply."""
        if not self._size:
            rounds = ceil(len(self._left) / (self._num_slots * num_workers))
            self._size = ceil(len(self._left) / max(1, rounds * num_workers))
        taken, self._left = self._left[: self._size], self._left[self._size :]
        return taken

    def settle(self, summary: EpisodeSummary) -> None:
        """See Supply."""
        self._became[summary.index] = summary
        self._num_demonstrations += summary.is_demonstration

    @property
    def done(self) -> bool:
        """See Supply."""
        return len(self._became) == len(self._indices)

    def standing(self) -> tuple[int, int, str]:
        """See Supply."""
        num_done = len(self._became)
        return num_done, len(self._indices), f"{num_done} of {len(self._indices)} episodes"

    def counts(self) -> tuple[int, int]:
        """See Supply."""
        return len(self._became), self._num_demonstrations

    def summaries(self) -> list[EpisodeSummary]:
        """In the order of the indices."""
        return [self._became[index] for index in self._indices]


class Demonstrations:
    """Attempts 0, 1, 2, ... until the rules say that it is enough.

    What counts are the attempts by index, up to the last that is wanted. So the outcome does not depend on which
    attempts end first: accepting by time would favour short episodes, and change with the number of workers.

    Args:
        plan: how attempts are made.
        rules: when they are enough.
        held: what attempts that exist already became.
        stopwatch: how long attempts have been made for, against the rules' budget of time.
    """

    def __init__(
        self, plan: RolloutPlan, rules: StopRules, held: Iterable[EpisodeSummary], stopwatch: Stopwatch
    ) -> None:
        self._rules, self._stopwatch = rules, stopwatch
        self._num_slots = plan.num_slots
        self._became = {summary.index: summary for summary in held}
        self._num_accepted = sum(summary.is_demonstration for summary in self._became.values())
        self._fresh = (index for index in range(rules.max_attempts) if index not in self._became)
        self._pending: set[int] = set()
        self._calls = [[index] for index in sorted(self._became)]
        self._tally = Tally(rules)
        self._covered = Coverage(rules.coverage)  # of all that have ended, in whatever order
        self._tally.count(self._became)
        for summary in self._became.values():
            self._covered.count(summary)

    def take(self, num_workers: int) -> list[int]:
        """See Supply; as many as it will very likely take at the acceptance so far, every one at first.

        A world steps all its slots, idle or not, so that a few attempts too many cost less than another call.
        """
        acceptance = (self._num_accepted + 1) / (len(self._became) + 1)
        # More than are wanted may be accepted by now, while an attempt before them is under way.
        wanted = max(0, self._rules.num_demonstrations - self._num_accepted)
        likely = _likely_attempts(wanted, acceptance)
        if not wanted and not self._covered.is_reached:
            likely = self._num_slots * num_workers  # attempts start anywhere, so go on with what there is room for
        missing = likely - len(self._pending)
        if missing <= 0 and self._pending:
            return []
        size = min(self._num_slots, max(1, ceil(missing / num_workers)))
        taken = list(islice(self._fresh, size))
        self._pending.update(taken)
        if taken:
            self._calls.append(taken)
        return taken

    def settle(self, summary: EpisodeSummary) -> None:
        """See Supply."""
        self._became[summary.index] = summary
        self._num_accepted += summary.is_demonstration
        self._covered.count(summary)
        self._pending.discard(summary.index)
        self._tally.count(self._became)

    @property
    def done(self) -> bool:
        """See Supply."""
        return self._tally.end is not None or self._stopwatch.seconds() >= self._rules.max_seconds

    def standing(self) -> tuple[int, int, str]:
        """See Supply; of all that have ended, also those that wait for one before them to count."""
        accepted, wanted = self._num_accepted, self._rules.num_demonstrations
        share = f"{accepted} of {len(self._became)} attempts are demonstrations"
        return min(accepted, wanted), wanted, ", ".join(filter(None, (share, self._covered.sentence())))

    def counts(self) -> tuple[int, int]:
        """See Supply."""
        return len(self._became), self._num_accepted

    def attempts(self) -> Attempts:
        """What was made, and why no more was.

        Raises:
            FleetError: there are too few demonstrations; the message has the acceptance and the reasons.
        """
        tally = self._tally if self._tally.end else self._tally_so_far()
        made = Attempts(tally.summaries, tally.end or "time", self._rules, tally.coverage)
        made.check()
        return made

    def _tally_so_far(self) -> Tally:
        tally = Tally(self._rules)
        for summary in takewhile(lambda _: not tally.is_enough, self._so_far()):
            tally.add(summary)
        return tally

    def _so_far(self) -> list[EpisodeSummary]:
        """What counts when the time is up: of each call the attempts before the first that was still under way.

        Those after it would be the short ones of their call.
        """
        ended = (list(takewhile(lambda index: index in self._became, call)) for call in self._calls)
        return [self._became[index] for index in sorted(chain.from_iterable(ended))]


def _likely_attempts(wanted: int, acceptance: float) -> int:
    """Attempts that give `wanted` demonstrations: the mean of a negative binomial and two standard deviations."""
    return ceil((wanted + 2 * sqrt(wanted * (1 - acceptance))) / acceptance)
