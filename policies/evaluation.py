"""Scores of a policy with 95 % intervals, and the rollouts they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..generators.plan import RolloutPlan
from ..storage.episode import EpisodeSummary
from ..storage.errors import ConfigError
from ..storage.plugins import PluginRef

Z95 = 1.959963984540054  # two-sided 95 % of the normal distribution


@dataclass(frozen=True)
class Interval:
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Score:
    """How well one driver did in one world.

    Args:
        name: of driver and world.
        num_episodes: evaluated episodes, untrusted ones among them.
        num_successes: episodes in which the task was solved.
        num_untrusted: episodes that the world itself did not believe; they count as not solved.
        success_rate: with Wilson's interval.
        max_score: mean over episodes of the best score reached, with a bootstrap interval.
    """

    name: str
    num_episodes: int
    num_successes: int
    num_untrusted: int
    success_rate: Interval
    max_score: Interval

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)


def score(name: str, summaries: Sequence[EpisodeSummary]) -> Score:
    """Score the episodes of one evaluation.

    Raises:
        ConfigError: there are no episodes.
    """
    if not summaries:
        raise ConfigError(f"{name}: a score needs at least one episode, got none")
    num_successes = sum(summary.outcome == "success" for summary in summaries)
    return Score(
        name,
        len(summaries),
        num_successes,
        sum(summary.outcome == "untrusted" for summary in summaries),
        wilson_interval(num_successes, len(summaries)),
        bootstrap_interval([summary.score_max for summary in summaries]),
    )


def wilson_interval(num_successes: int, num_episodes: int) -> Interval:
    """The success rate and its 95 % interval after Wilson (1927), sound near 0 and 1 and for few episodes."""
    n, p, z2 = num_episodes, num_successes / num_episodes, Z95**2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Interval(p, max(0.0, middle - half), min(1.0, middle + half))


def bootstrap_interval(values: Sequence[float], num_draws: int = 10_000) -> Interval:
    """The mean and the 2.5 % and 97.5 % quantiles of resampled means (Efron 1979); always the same draws."""
    sample = np.asarray(values, np.float64)
    draws = np.random.default_rng(0).choice(sample, (num_draws, len(sample))).mean(1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return Interval(float(sample.mean()), float(low), float(high))


def policy_ref(policy: Path) -> PluginRef:
    """The stream that plays a policy folder."""
    return PluginRef("streams", "policy", {"policy": str(policy)})


def evaluation_plan(
    world: PluginRef,
    stream: PluginRef,
    *,
    run_seed: int,
    max_steps: int,
    reality: PluginRef | None = None,
    num_slots: int = 16,
    lineage: Mapping[str, Any] | None = None,
) -> RolloutPlan:
    """The rollouts of one evaluation: episode i starts alike for every stream, in every world.

    Args:
        world: where the stream is scored.
        stream: who is scored, for a policy `policy_ref(folder)`.
        run_seed: chooses the initial states; give every evaluation that is compared the same.
        max_steps: steps an episode may take.
        reality: for a learned world, where the episodes' first observations are taken from.
        num_slots: episodes stepped together; no result depends on it.
        lineage: what else to keep about the episodes.
    """
    return RolloutPlan(
        stage="evaluate",
        world=world,
        stream=stream,
        run_seed=run_seed,
        max_steps=max_steps,
        num_slots=num_slots,
        start_world=reality,
        lineage=lineage or {},
    )
