"""What one process of the fleet does: make the episodes it is told to, and store each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from ...storage.episode import Episode, EpisodeSummary
from ...storage.errors import DemoloomError, FleetError, InvalidEpisode, StoreError
from ...storage.spec import EpisodeSpec
from ...storage.zarr_store import ZarrStore
from ..plan import RolloutPlan
from ..rollout import recorded_spec, rollout
from .agenda import Agenda
from .gpu_share import keep_to_share
from .shared_folder import refuse_unshared
from .writer import EpisodeWriter

#: Gives the index of one more episode, or None.
More = Callable[[], int | None]


def no_more() -> None:
    """The answer of whoever has nothing besides."""


class Worker:
    """Hosts one world and one stream, and appends what they make to a store.

    Args:
        plan: what to make.
        store: folder of the ZarrStore; made if it is not there.
        max_failures_in_a_row: `run` leaves the rest undone after so many episodes in a row raised an exception.
    """

    def __init__(self, plan: RolloutPlan, store: Path, max_failures_in_a_row: int) -> None:
        self.plan = plan
        self._max_failures_in_a_row = max_failures_in_a_row
        self._build()
        self._store = _open_store(store, recorded_spec(self._world, self._stream))

    def run(self, indices: Iterable[int], more: More = no_more) -> list[EpisodeSummary]:
        """Make, store and summarise these episodes.

        After an exception the episodes that were under way are made again one by one, so that the one at fault
        is found; it is summarised with outcome `error` and not stored.

        Args:
            indices: which episodes; asked for the next when a slot is free for it.
            more: asked for one more when these are used up, until something fails.

        Returns:
            The summaries of these and, of the others, of those that failed.

        Raises:
            DemoloomError: something that concerns all episodes, as a full disk.
        """
        job = _Job(iter(indices), more)
        while True:
            try:
                self._make(job, job)
                return job.summaries
            except Exception as error:
                _raise_if_common(error)
                if not job.under_way:
                    raise
                self._build()
            for index in list(job.under_way):
                if job.failures_in_a_row >= self._max_failures_in_a_row:
                    return job.summaries
                self._make_alone(index, job)

    def _build(self) -> None:
        """Make world and stream anew: what has raised may be in any state."""
        plan = self.plan
        self._world = plan.world.build(num_envs=plan.num_slots)
        self._start_world = plan.start_world.build(num_envs=plan.num_slots) if plan.start_world else None
        self._stream = plan.stream.build(spec=self._world.episode_spec)

    def _make(self, indices: Iterable[int], job: _Job) -> None:
        def refused(episode: Episode, error: InvalidEpisode) -> None:
            job.note(failed(self.plan, episode.index, _reason(error)))

        with EpisodeWriter(self._store, job.note, refused) as writer:
            for episode in rollout(self._world, self._stream, self.plan, indices, self._start_world):
                writer.put(episode)

    def _make_alone(self, index: int, job: _Job) -> None:
        try:
            self._make([index], job)
        except Exception as error:
            _raise_if_common(error)
            self._build()
            job.note(failed(self.plan, index, _reason(error)))


class _Job:
    """What `run` is told to make, what of it is under way, and what became of it.

    As an iterator it gives what to begin next; after it has had none there may be some again.
    """

    def __init__(self, own: Iterator[int], more: More) -> None:
        self._own, self._more = own, more
        self.under_way: dict[int, bool] = {}
        self.summaries: list[EpisodeSummary] = []
        self.failures_in_a_row = 0
        self._has_failed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> int:
        own = next(self._own, None)
        # Whoever waits for this call is to hear of a failure soon.
        index = self._more() if own is None and not self._has_failed else own
        if index is None:
            raise StopIteration
        self.under_way[index] = own is not None
        return index

    def note(self, summary: EpisodeSummary) -> None:
        """One has ended."""
        is_own, has_failed = self.under_way.pop(summary.index), summary.outcome == "error"
        if is_own or has_failed:
            self.summaries.append(summary)
        self._has_failed = self._has_failed or has_failed
        self.failures_in_a_row = self.failures_in_a_row + 1 if has_failed else 0


class WorkerShell:
    """A Worker as a Ray actor; what goes wrong for all episodes comes back as a value, which Ray leaves as it is.

    Args:
        plans: of which it hosts one at a time.
        store: see Worker.
        max_failures_in_a_row: see Worker.
    """

    def __init__(self, plans: Sequence[RolloutPlan], store: Path, max_failures_in_a_row: int) -> None:
        self._plans, self._store = plans, store
        self._max_failures_in_a_row = max_failures_in_a_row
        self._worker: Worker | None = None
        self._agenda = Agenda()

    def start(self, number: int, mark: Path, num_gpus: float) -> list[EpisodeSummary] | DemoloomError:
        """Make all that plan `number` needs, if `mark` shows that the driver sees the same folder; no episode yet."""
        try:
            refuse_unshared(mark)
            keep_to_share(num_gpus)
        except DemoloomError as error:
            return error
        return self.run(0, number, [])

    def announce(self, call: int, indices: Sequence[int]) -> None:
        """Call `call` waits, of the plan of the calls before it; comes beside `run` (see Agenda)."""
        self._agenda.announce(call, indices)

    def end(self) -> None:
        """Let the episodes under way end and begin no others; comes beside `run`."""
        self._agenda.end()

    def run(self, call: int, number: int, indices: Sequence[int]) -> list[EpisodeSummary] | DemoloomError:
        """See Worker.run; call `call`, of episodes of plan `number`."""
        try:
            worker = self._hosting(self._plans[number])
            return worker.run(self._agenda.own(call, indices), self._agenda.ahead)
        except DemoloomError as error:
            return error
        except Exception as error:
            return FleetError(f"a worker could not make its world and stream ({_reason(error)})")

    def _hosting(self, plan: RolloutPlan) -> Worker:
        if self._worker is None or self._worker.plan is not plan:
            self._worker = None  # frees the memory of one world before the next takes as much
            self._worker = Worker(plan, self._store, self._max_failures_in_a_row)
        return self._worker


def failed(plan: RolloutPlan, index: int, reason: str) -> EpisodeSummary:
    """The summary of an episode of which no row could be kept."""
    return EpisodeSummary(
        id=plan.episode_id(index),
        index=index,
        seed=plan.episode_seed(index),
        task="",
        length=0,
        outcome="error",
        reason=reason,
        score_max=0.0,
        score_last=0.0,
        success=False,
        trust_min=0.0,
        lineage={"plan": plan.to_dict()},
    )


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _raise_if_common(error: Exception) -> None:
    """An invalid episode is that episode's fault; other errors of ours would meet every episode."""
    if isinstance(error, DemoloomError) and not isinstance(error, InvalidEpisode):
        raise error


def _open_store(path: Path, spec: EpisodeSpec) -> ZarrStore:
    try:
        return ZarrStore.create(path, spec, exist_ok=True)
    except StoreError:
        # Another worker may have made it between the look and the write; then this finds it, or raises again.
        return ZarrStore.create(path, spec, exist_ok=True)
