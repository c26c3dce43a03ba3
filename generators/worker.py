"""What one process of the fleet does: make the episodes it is told to, and store each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from ..storage.episode import EpisodeSummary, summarise
from ..storage.errors import DemoloomError, FleetError, InvalidEpisode, StoreError
from ..storage.spec import EpisodeSpec
from ..storage.zarr_store import ZarrStore
from .plan import RolloutPlan
from .rollout import rollout


class Worker:
    """Hosts one world and one stream, and appends what they make to a store.

    Args:
        plan: what to make.
        store: folder of the ZarrStore; made if it is not there.
        max_failures_in_a_row: `run` leaves the rest undone after so many episodes in a row raised an exception.
    """

    def __init__(self, plan: RolloutPlan, store: Path, max_failures_in_a_row: int) -> None:
        self._plan = plan
        self._max_failures_in_a_row = max_failures_in_a_row
        self._build()
        self._store = _open_store(store, self._world.episode_spec)

    def run(self, indices: Sequence[int]) -> list[EpisodeSummary]:
        """Make, store and summarise these episodes.

        After an exception the episodes that were under way are made again one by one, so that the one at fault
        is found; it is summarised with outcome `error` and not stored.

        Raises:
            DemoloomError: something that concerns all episodes, as a full disk.
        """
        done: list[EpisodeSummary] = []
        try:
            self._make(indices, done)
        except Exception as error:
            _raise_if_common(error)
            made = {summary.index for summary in done}
            self._one_by_one([index for index in indices if index not in made], done)
        return done

    def _build(self) -> None:
        plan = self._plan
        self._world = plan.world.build(num_envs=plan.num_slots)
        self._start_world = plan.start_world.build(num_envs=plan.num_slots) if plan.start_world else None
        self._stream = plan.stream.build(spec=self._world.episode_spec)

    def _make(self, indices: Iterable[int], done: list[EpisodeSummary]) -> None:
        for episode in rollout(self._world, self._stream, self._plan, indices, self._start_world):
            self._store.append(episode)
            done.append(summarise(episode))

    def _one_by_one(self, indices: Iterable[int], done: list[EpisodeSummary]) -> None:
        failures = 0
        for index in indices:
            # What has raised may be in any state, so that it is not used again.
            self._build()
            try:
                self._make([index], done)
                failures = 0
            except Exception as error:
                _raise_if_common(error)
                done.append(failed(self._plan, index, f"{type(error).__name__}: {error}"))
                failures += 1
            if failures == self._max_failures_in_a_row:
                return


class WorkerShell:
    """A Worker as a Ray actor; what goes wrong for all episodes comes back as a value, which Ray leaves as it is."""

    def __init__(self, plan: RolloutPlan, store: Path, max_failures_in_a_row: int) -> None:
        self._arguments = (plan, store, max_failures_in_a_row)
        self._worker: Worker | None = None

    def run(self, indices: Sequence[int]) -> list[EpisodeSummary] | DemoloomError:
        """See Worker.run. The first call makes the worker, and with no indices that is all it does."""
        try:
            self._worker = self._worker or Worker(*self._arguments)
            return self._worker.run(indices) if indices else []
        except DemoloomError as error:
            return error
        except Exception as error:
            return FleetError(f"a worker could not make its world and stream ({type(error).__name__}: {error})")


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
