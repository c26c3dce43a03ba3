"""The driver's loop: hands indices to Ray actors, and mends what their deaths break.

Ray must not repeat a call by itself (`max_restarts=0`, `max_task_retries=0`): it would run a deadly episode for
ever. What counts is what stands in the store. After a death the episodes missing there are made again, those that
were under way in ever smaller calls, until the one that kills its worker is alone and is given up.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any

from ..storage.episode import EpisodeSummary
from ..storage.errors import DemoloomError, FleetError
from ..storage.progress import Progress
from ..storage.zarr_store import ZarrStore, is_store
from .fleet_config import FleetConfig
from .plan import RolloutPlan
from .supply import Supply
from .worker import WorkerShell, failed

_CALLS_IN_FLIGHT = 2  # one that runs and one that waits, so that no worker idles
_POLL_S = 0.5
_START_S = 300.0  # for a worker to import and load what it hosts
_SUSPECTS_SPLIT = 4


def held_summaries(plan: RolloutPlan, store: Path) -> list[EpisodeSummary]:
    """The episodes of this plan that a store holds already; none if there is no store."""
    if not is_store(store):
        return []
    found = ZarrStore.open(store).summaries()
    return [summary for summary in found if summary.id == plan.episode_id(summary.index)]


@dataclass
class _Call:
    """Indices given to a worker; none while it starts.

    Args:
        since: when the worker was last seen to get on with it; infinitely late while it waits behind another call.
    """

    indices: Sequence[int]
    ref: Any
    since: float = float("inf")


@dataclass
class _Hand:
    """An actor and the calls it has, first the one it runs."""

    actor: Any
    calls: deque[_Call] = field(default_factory=deque)


class Dispatch:
    """Makes what a supply hands out. Needs an open `ray_session`."""

    def __init__(self, plan: RolloutPlan, store: Path, supply: Supply, config: FleetConfig, progress: Progress) -> None:
        self._plan, self._store, self._supply = plan, store.absolute(), supply
        self._config, self._progress = config, progress
        self._hands: list[_Hand] = []
        self._again: deque[Sequence[int]] = deque()
        self._settled: set[int] = set()
        self._tries: Counter[int] = Counter()
        self._deaths = 0
        self._failures_in_a_row = 0

    def run(self) -> None:
        """Return once the supply is done; an interrupt leaves all that is stored.

        Raises:
            FleetError: too many failures in a row, or too many deaths.
            DemoloomError: whatever concerns all episodes, as a full disk or a world that cannot be loaded.
        """
        try:
            self._hands = [self._hire() for _ in range(self._config.num_workers)]
            while not self._supply.done:
                self._hand_out()
                self._collect()
                self._look()
                self._replace_hung()
        except KeyboardInterrupt:
            _, _, standing = self._supply.standing()
            raise KeyboardInterrupt(f"stopped with {standing}; start it again to go on from there") from None
        finally:
            self._dismiss()

    def _hire(self) -> _Hand:
        import ray

        actor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(WorkerShell)
        hand = _Hand(actor.remote(self._plan, self._store, self._config.max_failures_in_a_row))
        # To import and load a world may take longer than an episode, so that it is timed apart.
        hand.calls.append(_Call([], hand.actor.run.remote([]), since=time.monotonic()))
        return hand

    def _dismiss(self) -> None:
        import ray

        for hand in self._hands:
            ray.kill(hand.actor)

    def _hand_out(self) -> None:
        """Give each worker calls, those with the fewest first."""
        for depth in range(_CALLS_IN_FLIGHT):
            for hand in self._hands:
                if len(hand.calls) <= depth and (indices := self._next()):
                    hand.calls.append(_Call(indices, hand.actor.run.remote(indices)))
                    hand.calls[0].since = min(hand.calls[0].since, time.monotonic())

    def _next(self) -> Sequence[int]:
        return self._again.popleft() if self._again else self._supply.take(self._config.num_workers)

    def _collect(self) -> None:
        """Wait for calls to end and take in what they made."""
        import ray
        from ray.exceptions import RayActorError

        heads = {hand.calls[0].ref: hand for hand in self._hands if hand.calls}
        ready, _ = ray.wait(list(heads), timeout=_POLL_S)
        for ref in ready:
            try:
                result = ray.get(ref)
            except RayActorError:
                self._bury(heads[ref], "its worker died")
                continue
            if isinstance(result, DemoloomError):
                raise result
            self._take_in(heads[ref], result)

    def _take_in(self, hand: _Hand, summaries: Sequence[EpisodeSummary]) -> None:
        call = hand.calls.popleft()
        if hand.calls:
            hand.calls[0].since = time.monotonic()
        for summary in summaries:
            if summary.index not in self._settled:
                self._settle(summary)
        self._put_back(sorted(set(call.indices) - {summary.index for summary in summaries}))

    def _look(self) -> None:
        """Settle what running calls have stored already: the rest of a call takes long, and may not be needed."""
        for hand in self._hands:
            if hand.calls and self._settle_stored(hand.calls[0].indices):
                hand.calls[0].since = time.monotonic()

    def _settle_stored(self, indices: Sequence[int]) -> int:
        """Settle those that have come to stand in the store; how many."""
        new = [index for index in indices if index not in self._settled]
        if not new or not is_store(self._store):
            return 0
        store = ZarrStore.open(self._store)
        found = [index for index in new if self._plan.episode_id(index) in store]
        for index in found:
            self._settle(store.summary(self._plan.episode_id(index)))
        return len(found)

    def _settle(self, summary: EpisodeSummary) -> None:
        self._settled.add(summary.index)
        self._supply.settle(summary)
        self._progress(*self._supply.standing())
        self._failures_in_a_row = self._failures_in_a_row + 1 if summary.outcome == "error" else 0
        if self._failures_in_a_row >= self._config.max_failures_in_a_row:
            raise FleetError(
                f"{self._failures_in_a_row} episodes in a row failed, the last (index {summary.index}) with "
                f"{summary.reason}; mend the world or the stream and start again, what is stored is kept"
            )

    def _put_back(self, indices: Sequence[int]) -> None:
        if indices:
            self._again.append(indices)

    def _replace_hung(self) -> None:
        """Bury workers whose call has stored nothing for too long."""
        for hand in self._hands:
            if not hand.calls:
                continue
            call = hand.calls[0]
            limit_s = self._config.timeout_s if call.indices else max(_START_S, self._config.timeout_s)
            if time.monotonic() - call.since >= limit_s:
                self._bury(hand, f"its worker stored no episode within {limit_s:g} s")

    def _bury(self, hand: _Hand, cause: str) -> None:
        """Take back a worker's calls, look which episodes it still stored, and put another in its place."""
        import ray

        ray.kill(hand.actor)
        self._deaths += 1
        if self._deaths > self._config.max_deaths:
            raise FleetError(
                f"{self._deaths} workers were lost, at last because {cause}; what is stored is kept. If it "
                "was for lack of memory, lower num_workers or num_slots"
            )
        missing = [self._missing(call.indices) for call in hand.calls]
        self._hands[self._hands.index(hand)] = self._hire()
        for indices in missing[1:]:
            self._put_back(indices)
        if missing:
            self._suspect(missing[0], cause)

    def _missing(self, indices: Sequence[int]) -> list[int]:
        """Settle those that are stored, return the rest."""
        self._settle_stored(indices)
        return [index for index in indices if index not in self._settled]

    def _suspect(self, indices: Sequence[int], cause: str) -> None:
        """Make these again in smaller calls; one that was alone is given up after `max_tries`."""
        if len(indices) == 1:
            self._tries[indices[0]] += 1
            if self._tries[indices[0]] >= self._config.max_tries:
                reason = f"given up: {self._config.max_tries} times {cause} with this episode alone in it"
                self._settle(failed(self._plan, indices[0], reason))
                return
        size = ceil(len(indices) / _SUSPECTS_SPLIT)
        for start in range(0, len(indices), max(1, size)):
            self._put_back(indices[start : start + size])
