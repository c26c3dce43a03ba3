"""When attempts are enough: rules that look at attempts 0, 1, 2, ... of which none is missing.

An attempt counts in the turn of its index, so that neither the number of workers nor who ends first decides anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, log
from typing import Literal

from ...storage.episode import EpisodeSummary
from ...storage.errors import ConfigError, FleetError
from .coverage import Coverage, CoverageRule

#: Why attempts ended: as many demonstrations as asked for, a budget that is used up, or no hope of enough.
End = Literal["enough", "attempts", "time", "hopeless"]

# It is looked at after every attempt: a thousand looks give up a stream that would have done in at most one run of a
# thousand (union bound).
_DOUBT = 1e-6


@dataclass(frozen=True)
class StopRules:
    """What ends a run of attempts.

    Args:
        num_demonstrations: end once there are so many, if `coverage` is reached by then.
        max_attempts: end after so many attempts, exceptions included.
        min_demonstrations: a budget that ends with fewer is an error, and the run ends as soon as it is clear that
            there will be fewer; None: half of `num_demonstrations`.
        max_seconds: end after so long, all tries of the same run together.
        coverage: which starts must have demonstrations.

    Raises:
        ConfigError: a number is out of its range.
    """

    num_demonstrations: int
    max_attempts: int
    min_demonstrations: int | None = None
    max_seconds: float = inf
    coverage: CoverageRule = field(default_factory=CoverageRule)

    def __post_init__(self) -> None:
        wanted = self.num_demonstrations
        if not 1 <= wanted <= self.max_attempts:
            raise ConfigError(f"{wanted} demonstrations cannot come of max_attempts={self.max_attempts}")
        if not 1 <= self.least <= wanted:
            raise ConfigError(f"min_demonstrations must lie in 1 .. {wanted}, the number wanted, got {self.least}")
        if not self.max_seconds > 0:  # NaN is neither
            raise ConfigError(f"the time for attempts must be more than 0 s, got {self.max_seconds}")

    @property
    def least(self) -> int:
        """With fewer demonstrations a run has failed."""
        return (self.num_demonstrations + 1) // 2 if self.min_demonstrations is None else self.min_demonstrations


@dataclass(frozen=True)
class Attempts:
    """What was made, in the order of the indices, and why no more was.

    Args:
        summaries: of all attempts that count.
        end: what ended them.
        rules: of which one did.
        coverage: of their starts.
    """

    summaries: Sequence[EpisodeSummary]
    end: End
    rules: StopRules
    coverage: Coverage

    @property
    def num_demonstrations(self) -> int:
        """How many of them are demonstrations."""
        return sum(summary.is_demonstration for summary in self.summaries)

    def sentence(self) -> str:
        """How many became demonstrations, and why there are no more."""
        share = f"{self.num_demonstrations} of {len(self.summaries)} attempts became demonstrations"
        said = {
            "enough": f"{share}, as many as asked for",
            "attempts": f"all {self.rules.max_attempts} attempts were used: {share}",
            "time": f"the time of {self.rules.max_seconds:g} s was used up: {share}",
            "hopeless": f"{share}, which leaves no hope of {self.rules.least} within {self.rules.max_attempts}",
        }[self.end]
        return ", ".join(filter(None, (said, self.coverage.sentence())))

    def check(self) -> None:
        """Raise FleetError if there are too few; the message has the acceptance, the reasons and what to do."""
        if self.num_demonstrations >= self.rules.least:
            return
        raise FleetError(
            f"{self.sentence()}; at least {self.rules.least} were to come; most often: {self._reasons()}; mend the "
            "stream or the world, or raise the budget or lower min_demonstrations and start again: what was made is "
            "kept"
        )

    def _reasons(self, most: int = 3) -> str:
        counted = Counter(summary.reason for summary in self.summaries if summary.reason)
        return ", ".join(f"{reason} ({times} times)" for reason, times in counted.most_common(most)) or "no reason"


class Tally:
    """Attempts counted in the turn of their index, and what ends them.

    Args:
        rules: when they are enough.
    """

    def __init__(self, rules: StopRules) -> None:
        self._rules = rules
        self.summaries: list[EpisodeSummary] = []
        self.num_demonstrations = 0
        self.coverage = Coverage(rules.coverage)
        self.end: End | None = None

    def count(self, became: Mapping[int, EpisodeSummary]) -> None:
        """Go on through `became` (index -> attempt) to the first that is missing, or to the end."""
        while self.end is None and len(self.summaries) in became:
            self.add(became[len(self.summaries)])
            self.end = self._judge()

    def add(self, attempt: EpisodeSummary) -> None:
        """Count one attempt, whatever its index."""
        self.summaries.append(attempt)
        self.num_demonstrations += attempt.is_demonstration
        self.coverage.count(attempt)

    @property
    def is_enough(self) -> bool:
        """Whether there are as many demonstrations, from as many places, as wanted."""
        return self.num_demonstrations >= self._rules.num_demonstrations and self.coverage.is_reached

    def _judge(self) -> End | None:
        rules, attempts = self._rules, len(self.summaries)
        if self.is_enough:
            return "enough"
        if attempts == rules.max_attempts:
            return "attempts"
        hopeless = is_hopeless(self.num_demonstrations, attempts, rules.least, rules.max_attempts)
        return "hopeless" if hopeless else None


def is_hopeless(accepted: int, attempts: int, least: int, max_attempts: int) -> bool:
    """Whether after `accepted` of `attempts` there is no hope of `least` of `max_attempts`.

    Whatever the acceptance, that so few are accepted in the n attempts so far (a share p of them), and yet as many as
    it takes in the m that are left (a share r), has a probability of at most exp(-n KL(p || q) - m KL(r || q)), where
    q is `least` of `max_attempts` (Chernoff's bounds of both parts; q makes their product largest). No hope is less
    than one in a million.
    """
    missing, left = least - accepted, max_attempts - attempts
    if missing <= 0:
        return False
    if missing > left:
        return True
    seen, needed, overall = accepted / attempts, missing / left, least / max_attempts
    evidence = attempts * _divergence(seen, overall) + left * _divergence(needed, overall)
    return seen < overall and evidence > -log(_DOUBT)


def _divergence(p: float, q: float) -> float:
    """Kullback and Leibler's divergence of coins that show heads with probability p and q."""
    return sum(a * log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)
