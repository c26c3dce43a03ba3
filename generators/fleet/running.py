"""What a fleet is asked for: these episodes, or as many as the rules want."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ...storage.episode import EpisodeSummary
from ...storage.progress import Progress, silent
from ..plan import RolloutPlan
from .config import FleetConfig
from .gpu_share import on_given_gpus
from .session import ray_session
from .several_worlds import as_turns
from .stop_rules import Attempts, StopRules
from .stopwatch import Stopwatch
from .supply import Supply

_DEFAULT = FleetConfig()


def run_episodes(
    plan: RolloutPlan | Sequence[RolloutPlan],
    indices: Iterable[int],
    store: Path,
    *,
    config: FleetConfig = _DEFAULT,
    progress: Progress = silent,
) -> list[EpisodeSummary]:
    """Make each of these episodes exactly once, going on from what the store holds.

    Args:
        plan: how episodes are made; of several, in several worlds say, episode i is made by the (i mod n)th.
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

    turns = _turns(plan, config)
    supply = Fixed(turns[0], list(dict.fromkeys(indices)), held_summaries(turns, store))
    _run(turns, store, supply, config, progress)
    return supply.summaries()


def run_until(
    plan: RolloutPlan | Sequence[RolloutPlan],
    rules: StopRules,
    store: Path,
    *,
    config: FleetConfig = _DEFAULT,
    progress: Progress = silent,
) -> Attempts:
    """Make attempts 0, 1, 2, ... until the rules say that it is enough, going on from what the store holds.

    Returns:
        All attempts up to the last that is wanted, and why there are no more. Unless the budget of time ended them
        they are the same whatever the number of workers. The store may hold some later attempts as well, which were
        under way then.

    Raises:
        FleetError: there are fewer demonstrations than the rules ask for at least, or more episodes failed than
            `config` allows. What was made is stored.
        DemoloomError: something that concerns all episodes, as a full disk or a world that cannot be loaded.
    """
    from .dispatch import held_summaries
    from .supply import Demonstrations

    # Beside the store, which holds nothing but a dataset.
    stopwatch = Stopwatch(store.with_name(f"{store.name}.time.json"))
    turns = _turns(plan, config)
    supply = Demonstrations(turns[0], rules, held_summaries(turns, store), stopwatch)
    _run(turns, store, supply, config, progress)
    return supply.attempts()


def _turns(plan: RolloutPlan | Sequence[RolloutPlan], config: FleetConfig) -> list[RolloutPlan]:
    plans = [plan] if isinstance(plan, RolloutPlan) else plan
    return as_turns([on_given_gpus(one, config.num_gpus) for one in plans])


def _run(turns: list[RolloutPlan], store: Path, supply: Supply, config: FleetConfig, progress: Progress) -> None:
    from .dispatch import Dispatch
    from .several_worlds import distinct
    from .worlds_fit import refuse_foreign_starts

    if supply.done:
        return
    for plan in distinct(turns):
        refuse_foreign_starts(plan)
    with ray_session(config):
        Dispatch(turns, store, supply, config, progress).run()
