"""The driver's loop: hands indices to workers, and mends what their deaths break.

What counts is what stands in the store. After a death the episodes missing there are made again, those that were under
way in ever smaller calls, until the one that kills its worker is alone and is given up.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from math import ceil
from pathlib import Path

from ...storage.episode import EpisodeSummary
from ...storage.errors import FleetError
from ...storage.progress import Progress
from ...storage.zarr_store import ZarrStore, is_store
from ..plan import RolloutPlan
from .config import FleetConfig
from .hands import Batch, Hand, Hands, Lapse
from .losses import Lost, note_losses, now
from .meter import Meter
from .several_worlds import distinct, plan_of
from .stopping import stop_on_signal
from .supply import Supply
from .worker import failed
from .writer import MOST_WAITING

#: Batches of slots that a worker has ahead: those under way, and those for the slots that become free meanwhile.
_BATCHES_AHEAD = 2
_POLL_S = 0.5
_START_S = 300.0  # for a worker to be placed, to import, and to load what it hosts
_SUSPECTS_SPLIT = 4


def held_summaries(plans: Sequence[RolloutPlan], store: Path) -> list[EpisodeSummary]:
    """The episodes of these plans that a store holds already; none if there is no store."""
    if not is_store(store):
        return []
    found = ZarrStore.open(store).summaries()
    return [summary for summary in found if summary.id == plan_of(plans, summary.index).episode_id(summary.index)]


class Dispatch:
    """Makes what a supply hands out. Needs an open `ray_session`.

    Args:
        plans: episode i is made by `plan_of(plans, i)`.
        store: folder of the ZarrStore, made if it is not there.
        supply: which episodes.
        config: the workers.
        progress: told after each episode, and when something goes wrong.
    """

    def __init__(
        self, plans: Sequence[RolloutPlan], store: Path, supply: Supply, config: FleetConfig, progress: Progress
    ) -> None:
        self._plans, self._store, self._supply = plans, store.absolute(), supply
        self._distinct = distinct(plans)
        self._config, self._progress = config, progress
        self._hands = Hands(self._distinct, self._store, config)
        self._meter = Meter(progress, supply, self._store, config.num_workers)
        self._opened: ZarrStore | None = None
        self._looked = 0.0
        self._waiting: deque[Batch] = deque()
        self._settled: set[int] = set()
        self._tries: Counter[int] = Counter()
        self._deaths = self._deaths_in_a_row = 0
        self._failures_in_a_row = 0

    def run(self) -> None:
        """Return once the supply is done; an interrupt leaves all that is stored.

        Raises:
            FleetError: too many failures in a row, or too many deaths.
            DemoloomError: whatever concerns all episodes, as a full disk or a world that cannot be loaded.
            KeyboardInterrupt: SIGINT or SIGTERM came; the first lets the episodes under way end, a second does not.
        """
        try:
            with stop_on_signal() as stop, self._hands:
                while not self._supply.done and not stop.requested:
                    self._hand_out()
                    self._collect()
                    self._replace_hung()
                    self._meter.tell(sum(hand.started for hand in self._hands))
                if not self._supply.done:
                    self._wind_down()
                self._meter.tell(sum(hand.started for hand in self._hands), at_once=True)
            if self._supply.done:
                return
        except KeyboardInterrupt:
            pass
        _, _, standing = self._supply.standing()
        raise KeyboardInterrupt(f"stopped with {standing}; start it again to go on from there")

    def _hand_out(self) -> None:
        """Give calls to the worker that has the fewest episodes left; one that has not started may never start.

        Until all have, none gets a call to wait: in a short run the first to start would take what the others are for.
        """
        started = [hand for hand in self._hands if hand.started]
        enough = _BATCHES_AHEAD * self._plans[0].num_slots if len(started) == self._config.num_workers else 1
        while started:
            hand = min(started, key=self._num_left)
            if self._num_left(hand) >= enough or not (batch := self._next(hand.number)):
                return
            self._hands.send(hand, batch)

    def _num_left(self, hand: Hand) -> int:
        """How many of the episodes that a worker was given have not been settled."""
        return sum(index not in self._settled for call in hand.calls for index in call.batch.indices)

    def _next(self, number: int) -> Batch | None:
        """The next batch, if there is one of the plan that a worker hosts already."""
        if not any(batch.number == number for batch in self._waiting):
            self._put_back(self._supply.take(self._config.num_workers))
        chosen = next((batch for batch in self._waiting if batch.number == number), None)
        chosen = chosen or next(iter(self._waiting), None)
        if chosen:
            self._waiting.remove(chosen)
        return chosen

    def _collect(self) -> None:
        """Wait for calls to end and take in what they made."""
        for hand, answer in self._hands.answers(_POLL_S):
            if isinstance(answer, Lapse):
                self._bury(hand, answer.cause)
            else:
                self._take_in(hand, answer)
        if time.monotonic() - self._looked >= _POLL_S:
            self._look()

    def _take_in(self, hand: Hand, summaries: Sequence[EpisodeSummary]) -> None:
        call = hand.calls.popleft()
        hand.started = True
        if hand.calls:
            hand.calls[0].since = time.monotonic()
        for summary in summaries:
            if summary.index not in self._settled:
                self._settle(summary, hand)
        # Once they are to end, workers leave episodes undone.
        self._put_back(self._missing(call.batch.indices, hand))

    def _look(self) -> None:
        """Settle what calls have stored already: a call that others join takes as long as these keep coming."""
        for hand in self._hands:
            if sum(self._settle_stored(call.batch.indices, hand) for call in hand.calls):
                hand.calls[0].since = time.monotonic()
                first, *others = hand.calls
                hand.calls = deque(
                    [first, *(call for call in others if not self._settled.issuperset(call.batch.indices))]
                )
        self._looked = time.monotonic()

    def _settle_stored(self, indices: Iterable[int], hand: Hand) -> int:
        """Settle those that have come to stand in the store; how many."""
        if self._opened is None and is_store(self._store):
            self._opened = ZarrStore.open(self._store)
        store = self._opened
        if store is None:
            return 0
        ids = {index: self._id(index) for index in indices if index not in self._settled}
        found = [id for id in ids.values() if id in store]
        for id in found:
            self._settle(store.summary(id), hand)
        return len(found)

    def _settle(self, summary: EpisodeSummary, hand: Hand) -> None:
        self._settled.add(summary.index)
        self._supply.settle(summary)
        self._meter.made(hand.worker, summary)
        self._tell()
        if summary.outcome != "error":
            self._failures_in_a_row = self._deaths_in_a_row = 0
            return
        self._note([summary.index], summary.reason, given_up=True)
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= self._config.max_failures_in_a_row:
            raise FleetError(
                f"{self._failures_in_a_row} episodes in a row failed, the last (index {summary.index}, seed "
                f"{summary.seed}) with {summary.reason}; mend the world or the stream and start again, what is stored "
                "is kept"
            )

    def _tell(self, message: str = "") -> None:
        done, total, standing = self._supply.standing()
        lost = f"{self._deaths} worker{'s' * (self._deaths != 1)} lost" if self._deaths else ""
        self._progress(done, total, "; ".join(filter(None, (standing, lost, message))))

    def _put_back(self, indices: Sequence[int], is_suspect: bool = False) -> None:
        """Let these be made, in one call for each plan."""
        for number, plan in enumerate(self._distinct):
            own = [index for index in indices if plan_of(self._plans, index) is plan]
            if own:
                self._waiting.append(Batch(number, own, is_suspect))

    def _replace_hung(self) -> None:
        """Bury workers whose call has stored nothing for too long."""
        for hand in list(self._hands):
            waited_s = time.monotonic() - hand.calls[0].since if hand.calls else 0.0
            if hand.started and waited_s >= self._config.timeout_s:
                self._bury(hand, f"its worker stored no episode within {self._config.timeout_s:g} s")
            elif not hand.started and waited_s >= max(_START_S, self._config.timeout_s):
                self._refuse_no_start(waited_s)

    def _refuse_no_start(self, waited_s: float) -> None:
        """As long as others work, one that finds no room, or hangs as it starts, does no harm."""
        if not any(hand.started for hand in self._hands):
            raise FleetError(
                f"no worker has started within {waited_s:.0f} s: either the Ray cluster has no room for one (`ray "
                "status` shows what is taken), or loading its world hangs; what is stored is kept"
            )

    def _bury(self, hand: Hand, cause: str) -> None:
        """Take back a worker's calls, look which episodes it still stored, and put another in its place."""
        self._hands.replace(hand)
        self._deaths += 1
        self._deaths_in_a_row += 1
        running = list(hand.running())
        left = self._missing([index for call in running for index in call.batch.indices], hand)
        most = self._plans[0].num_slots + MOST_WAITING
        begun, not_begun = left[:most], left[most:]
        self._meter.lost(len(begun))
        self._note(begun, cause)
        if self._deaths_in_a_row > max(self._config.max_deaths, self._config.num_workers):
            raise FleetError(
                f"{self._deaths_in_a_row} workers were lost with no episode stored in between, at last because "
                f"{cause}; what is stored is kept. If it was for lack of memory, lower num_workers or num_slots"
            )
        self._put_back(not_begun)
        for call in list(hand.calls)[len(running) :]:
            self._put_back(self._missing(call.batch.indices, hand), call.batch.is_suspect)
        self._suspect(begun, hand, cause)
        self._tell(f"the last because {cause}")

    def _missing(self, indices: Sequence[int], hand: Hand) -> list[int]:
        """Settle those that are stored, return the rest."""
        self._settle_stored(indices, hand)
        return [index for index in indices if index not in self._settled]

    def _suspect(self, indices: Sequence[int], hand: Hand, cause: str) -> None:
        """Make these again in smaller calls; one that was alone is given up after `max_tries`."""
        if len(indices) == 1:
            self._tries[indices[0]] += 1
            if self._tries[indices[0]] >= self._config.max_tries:
                reason = f"given up: {self._config.max_tries} times {cause} with this episode alone in it"
                self._settle(failed(plan_of(self._plans, indices[0]), indices[0], reason), hand)
                return
        size = ceil(len(indices) / _SUSPECTS_SPLIT)
        for start in range(0, len(indices), max(1, size)):
            self._put_back(indices[start : start + size], is_suspect=True)

    def _note(self, indices: Iterable[int], cause: str, given_up: bool = False) -> None:
        plans = [(index, plan_of(self._plans, index)) for index in indices]
        note_losses(
            self._store,
            [Lost(plan.episode_id(i), i, plan.episode_seed(i), cause, given_up, now()) for i, plan in plans],
        )

    def _wind_down(self) -> None:
        """Let the episodes under way end, for `grace_s` at most."""
        self._tell(f"stopping once those under way have ended, within {self._config.grace_s:g} s; again to stop now")
        self._hands.end()
        until = time.monotonic() + self._config.grace_s
        busy = [hand for hand in self._hands if hand.started and hand.calls]
        while busy and time.monotonic() < until and not self._supply.done:
            self._collect()
            busy = [hand for hand in busy if hand.calls and hand in list(self._hands)]
        self._look()

    def _id(self, index: int) -> str:
        return plan_of(self._plans, index).episode_id(index)
