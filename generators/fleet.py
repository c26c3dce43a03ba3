"""The fleet: Ray actors that host worlds and make episodes into a store, whatever dies meanwhile."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..storage.episode import EpisodeSummary
from ..storage.errors import ConfigError
from ..storage.progress import Progress, silent
from .fleet_config import FleetConfig
from .plan import RolloutPlan
from .ray_session import ray_session
from .supply import Supply

__all__ = ["FleetConfig", "ray_session", "run_episodes", "run_until"]

_DEFAULT = FleetConfig()


def run_episodes(
    plan: RolloutPlan,
    indices: Iterable[int],
    store: Path,
    *,
    config: FleetConfig = _DEFAULT,
    progress: Progress = silent,
) -> list[EpisodeSummary]:
    """Make each of these episodes exactly once, going on from what the store holds.

    Args:
        plan: how episodes are made.
        indices: which of them.
        store: folder of a ZarrStore, made if it is not there; other plans' episodes in it are left alone.
        config: the workers.
        progress: told after each episode.

    Returns:
        Their summaries in the order of `indices`. An episode of which no row could be kept has outcome `error`
        and is not in the store; a later call tries it again.

    Raises:
        FleetError: more failed than `config` allows. What was made is stored.
        DemoloomError: something that concerns all episodes, as a full disk or a world that cannot be loaded.
    """
    from .dispatch import held_summaries
    from .supply import Fixed

    supply = Fixed(plan, list(dict.fromkeys(indices)), held_summaries(plan, store))
    _run(plan, store, supply, config, progress)
    return supply.summaries()


def run_until(
    plan: RolloutPlan,
    num_demonstrations: int,
    max_attempts: int,
    store: Path,
    *,
    config: FleetConfig = _DEFAULT,
    progress: Progress = silent,
) -> list[EpisodeSummary]:
    """Make attempts 0, 1, 2, ... until so many are demonstrations, going on from what the store holds.

    Returns:
        The summaries of all attempts up to the last demonstration, whatever the number of workers. The store may
        hold some later attempts as well, which were under way when it was found.

    Raises:
        ConfigError: fewer attempts are allowed than demonstrations wanted.
        FleetError: `max_attempts` were not enough, or more failed than `config` allows. What was made is stored.
        DemoloomError: something that concerns all episodes, as a full disk or a world that cannot be loaded.
    """
    from .dispatch import held_summaries
    from .supply import Demonstrations

    if not 1 <= num_demonstrations <= max_attempts:
        raise ConfigError(f"{num_demonstrations} demonstrations cannot come of max_attempts={max_attempts}")
    supply = Demonstrations(plan, num_demonstrations, max_attempts, held_summaries(plan, store))
    _run(plan, store, supply, config, progress)
    return supply.summaries()


def _run(plan: RolloutPlan, store: Path, supply: Supply, config: FleetConfig, progress: Progress) -> None:
    from .dispatch import Dispatch

    if not supply.done:
        with ray_session(config):
            Dispatch(plan, store, supply, config, progress).run()
