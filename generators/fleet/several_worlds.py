"""Several plans in one run: which of them makes episode i."""

from __future__ import annotations

from collections.abc import Sequence

from ...storage.errors import ConfigError
from ..plan import RolloutPlan


def plan_of(plans: Sequence[RolloutPlan], index: int) -> RolloutPlan:
    """The plans take turns; one that occurs twice makes twice as many.

    Each makes of its indices what it would make of them alone, whatever the others are.
    """
    return plans[index % len(plans)]


def distinct(plans: Sequence[RolloutPlan]) -> list[RolloutPlan]:
    """Each plan once, in the order of their first turns."""
    return [plan for place, plan in enumerate(plans) if plans.index(plan) == place]


def as_turns(plans: Sequence[RolloutPlan]) -> list[RolloutPlan]:
    """The plans as turns, in which equal plans are one object.

    Raises:
        ConfigError: there is none, or two have other run seeds: the index decides the seed of an episode, not its turn.
    """
    if not plans:
        raise ConfigError("a run needs at least one plan, got none")
    if len(seeds := {plan.run_seed for plan in plans}) > 1:
        raise ConfigError(f"the plans of one run must share their run_seed, got {', '.join(map(str, sorted(seeds)))}")
    return [plans[plans.index(plan)] for plan in plans]
