"""What one process of the fleet does: make the episodes it is told to, and store each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ...storage.episode import Episode, EpisodeSummary
from ...storage.errors import DemoloomError, FleetError, InvalidEpisode, StoreError
from ...storage.spec import EpisodeSpec
from ...storage.zarr_store import ZarrStore
from ..plan import RolloutPlan
from ..rollout import recorded_spec, rollout
from .gpu_share import keep_to_share
from .shared_folder import refuse_unshared
from .writer import EpisodeWriter

Stopped = Callable[[], bool]


def never() -> bool:
    """The answer of whoever goes on to the end."""
    return False


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

    def run(self, indices: Sequence[int], stopped: Stopped = never) -> list[EpisodeSummary]:
        """Make, store and summarise these episodes.

        After an exception the episodes that were under way are made again one by one, so that the one at fault
        is found; it is summarised with outcome `error` and not stored.

        Args:
            indices: which episodes.
            stopped: asked before each; once it says yes none is begun any more, and those under way end.

        Raises:
            DemoloomError: something that concerns all episodes, as a full disk.
        """
        done: list[EpisodeSummary] = []
        try:
            self._make(_until(stopped, indices), done)
        except Exception as error:
            _raise_if_common(error)
            made = {summary.index for summary in done}
            self._one_by_one(_until(stopped, [index for index in indices if index not in made]), done)
        return done

    def _build(self) -> None:
        plan = self.plan
        self._world = plan.world.build(num_envs=plan.num_slots)
        self._start_world = plan.start_world.build(num_envs=plan.num_slots) if plan.start_world else None
        self._stream = plan.stream.build(spec=self._world.episode_spec)

    def _make(self, indices: Iterable[int], done: list[EpisodeSummary]) -> None:
        def refused(episode: Episode, error: InvalidEpisode) -> None:
            done.append(failed(self.plan, episode.index, _reason(error)))

        with EpisodeWriter(self._store, done.append, refused) as writer:
            for episode in rollout(self._world, self._stream, self.plan, indices, self._start_world):
                writer.put(episode)

    def _one_by_one(self, indices: Iterable[int], done: list[EpisodeSummary]) -> None:
        failures = 0
        for index in indices:
            # What has raised may be in any state, so that it is not used again.
            self._build()
            try:
                self._make([index], done)
            except Exception as error:
                _raise_if_common(error)
                done.append(failed(self.plan, index, _reason(error)))
            failures = failures + 1 if done[-1].outcome == "error" else 0
            if failures == self._max_failures_in_a_row:
                return


class WorkerShell:
    """A Worker as a Ray actor; what goes wrong for all episodes comes back as a value, which Ray leaves as it is.

    Args:
        plans: of which it hosts one at a time.
        store: see Worker.
        max_failures_in_a_row: see Worker.
        stopped: see Worker.run; once it has said yes, no later call begins an episode either.
    """

    def __init__(
        self, plans: Sequence[RolloutPlan], store: Path, max_failures_in_a_row: int, stopped: Stopped = never
    ) -> None:
        self._plans, self._store, self._stopped = plans, store, stopped
        self._max_failures_in_a_row = max_failures_in_a_row
        self._worker: Worker | None = None
        self._ending = False

    def start(self, number: int, mark: Path, num_gpus: float) -> list[EpisodeSummary] | DemoloomError:
        """Make all that plan `number` needs, if `mark` shows that the driver sees the same folder; no episode yet."""
        try:
            refuse_unshared(mark)
            keep_to_share(num_gpus)
        except DemoloomError as error:
            return error
        return self.run(number, [])

    def run(self, number: int, indices: Sequence[int]) -> list[EpisodeSummary] | DemoloomError:
        """See Worker.run; the episodes are of plan `number`."""
        try:
            return self._hosting(self._plans[number]).run(indices, self._is_ending)
        except DemoloomError as error:
            return error
        except Exception as error:
            return FleetError(f"a worker could not make its world and stream ({_reason(error)})")

    def _is_ending(self) -> bool:
        # A call that waits hears of its end some time after it has begun, so that the one before it has to tell.
        self._ending = self._ending or self._stopped()
        return self._ending

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


def _until(stopped: Stopped, indices: Iterable[int]) -> Iterator[int]:
    for index in indices:
        if stopped():
            return
        yield index


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
