"""Which episodes are still to be made: a fixed set, or as many as it takes for so many demonstrations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count, islice
from math import ceil, sqrt
from typing import Protocol

from ..storage.episode import EpisodeSummary
from ..storage.errors import FleetError
from .plan import RolloutPlan

#: Batches of slots in one call at most: slots that become free are refilled, and only the last batch runs out.
_MOST_ROUNDS = 4


class Supply(Protocol):
    """Hands out indices and takes in the summaries of what they became."""

    def take(self, num_workers: int) -> list[int]:
        """The indices of the next call to a worker; none while there is nothing to do but wait."""
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


class Fixed:
    """Exactly these indices, in rounds that keep all workers equally busy."""

    def __init__(self, plan: RolloutPlan, indices: Sequence[int], held: Iterable[EpisodeSummary]) -> None:
        self._indices = indices
        self._became = {summary.index: summary for summary in held}
        self._left = [index for index in indices if index not in self._became]
        self._num_slots = plan.num_slots
        self._size = 0

    def take(self, num_workers: int) -> list[int]:
        """See Supply."""
        if not self._size:
            rounds = ceil(len(self._left) / (_MOST_ROUNDS * self._num_slots * num_workers))
            self._size = ceil(len(self._left) / max(1, rounds * num_workers))
        taken, self._left = self._left[: self._size], self._left[self._size :]
        return taken

    def settle(self, summary: EpisodeSummary) -> None:
        """See Supply."""
        self._became[summary.index] = summary

    @property
    def done(self) -> bool:
        """See Supply."""
        return all(index in self._became for index in self._indices)

    def standing(self) -> tuple[int, int, str]:
        """See Supply."""
        num_done = sum(index in self._became for index in self._indices)
        return num_done, len(self._indices), f"{num_done} of {len(self._indices)} episodes"

    def summaries(self) -> list[EpisodeSummary]:
        """In the order of the indices."""
        return [self._became[index] for index in self._indices]


class Demonstrations:
    """Attempts 0, 1, 2, ... until `wanted` of them are demonstrations.

    What is accepted are the first demonstrations by index, after which no attempt is missing. So the outcome does
    not depend on which attempts end first: accepting by time would favour short episodes, and change with the
    number of workers.
    """

    def __init__(self, plan: RolloutPlan, wanted: int, max_attempts: int, held: Iterable[EpisodeSummary]) -> None:
        self._wanted, self._max_attempts = wanted, max_attempts
        self._num_slots = plan.num_slots
        self._became = {summary.index: summary for summary in held}
        self._pending: set[int] = set()

    def take(self, num_workers: int) -> list[int]:
        """See Supply; as many as it will very likely take at the acceptance so far, every one at first.

        A world steps all its slots, idle or not, so that a few attempts too many cost less than another call.
        """
        accepted = sum(summary.is_demonstration for summary in self._became.values())
        acceptance = (accepted + 1) / (len(self._became) + 1)
        # More than are wanted may be accepted by now, while an attempt before them is under way.
        missing = _likely_attempts(max(0, self._wanted - accepted), acceptance) - len(self._pending)
        if missing <= 0 and self._pending:
            return []
        size = min(_MOST_ROUNDS * self._num_slots, max(1, ceil(missing / num_workers)))
        fresh = (i for i in range(self._max_attempts) if i not in self._became and i not in self._pending)
        taken = list(islice(fresh, size))
        self._pending.update(taken)
        return taken

    def settle(self, summary: EpisodeSummary) -> None:
        """See Supply."""
        self._became[summary.index] = summary
        self._pending.discard(summary.index)

    @property
    def done(self) -> bool:
        """See Supply."""
        attempts = self._attempts()
        return len(attempts) == self._max_attempts or _accepted(attempts) == self._wanted

    def standing(self) -> tuple[int, int, str]:
        """See Supply."""
        attempts = self._attempts()
        accepted = _accepted(attempts)
        return accepted, self._wanted, f"{accepted} of {len(attempts)} attempts are demonstrations"

    def summaries(self) -> list[EpisodeSummary]:
        """All attempts up to the last demonstration that was wanted.

        Raises:
            FleetError: there are fewer demonstrations than wanted; the message has the acceptance and the reasons.
        """
        attempts = self._attempts()
        accepted = _accepted(attempts)
        if accepted < self._wanted:
            reason, times = Counter(summary.reason for summary in attempts if summary.reason).most_common(1)[0]
            raise FleetError(
                f"{accepted} of {len(attempts)} attempts became demonstrations, {self._wanted} were asked for; most "
                f"often: {reason} ({times} times); raise max_attempts, or mend the stream or the world"
            )
        return attempts

    def _attempts(self) -> list[EpisodeSummary]:
        """The attempts without a gap from 0 on, up to the last that is wanted."""
        attempts: list[EpisodeSummary] = []
        accepted = 0
        for index in count():
            if index not in self._became or accepted == self._wanted:
                return attempts
            attempts.append(self._became[index])
            accepted += attempts[-1].is_demonstration
        return attempts


def _likely_attempts(wanted: int, acceptance: float) -> int:
    """Attempts that give `wanted` demonstrations: the mean of a negative binomial and two standard deviations."""
    return ceil((wanted + 2 * sqrt(wanted * (1 - acceptance))) / acceptance)


def _accepted(attempts: Iterable[EpisodeSummary]) -> int:
    return sum(summary.is_demonstration for summary in attempts)
