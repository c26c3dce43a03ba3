"""The workers as Ray actors: hired, given calls, listened to, and replaced.

Ray must not repeat a call by itself (`max_restarts=0`, `max_task_retries=0`): it would run a deadly episode for ever.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice, takewhile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ...storage.episode import EpisodeSummary
from ...storage.errors import DemoloomError, FleetError
from ..plan import RolloutPlan
from .config import FleetConfig
from .placement import placed
from .shared_folder import marked_folder
from .worker import WorkerShell

#: Ray's thread for what a worker is told while it runs a call.
_BESIDE = "beside"


@dataclass(frozen=True)
class Batch:
    """Episodes of one plan, for one call to a worker.

    Args:
        number: the plan.
        indices: the episodes.
        is_suspect: one of them may have ended a worker, so that no others are made beside them.
    """

    number: int
    indices: Sequence[int]
    is_suspect: bool = False


@dataclass
class Call:
    """A batch given to a worker; none while it starts.

    Args:
        is_joined: its episodes begin as soon as there are slots free of the call before it.
        since: when the worker was last seen to get on with it; infinitely late while it waits behind another call.
    """

    batch: Batch
    ref: Any
    is_joined: bool = False
    since: float = float("inf")


@dataclass(eq=False)
class Hand:
    """An actor and the calls it has, first the one it runs.

    Args:
        actor: Ray's handle.
        worker: its place in the fleet, 0, 1, 2, ...
        number: the plan whose world it hosts.
        started: whether it has loaded that world.
        num_sent: calls that it was ever given.
    """

    actor: Any
    worker: int
    number: int
    started: bool = False
    calls: deque[Call] = field(default_factory=deque)
    num_sent: int = 0

    def running(self) -> Iterator[Call]:
        """The call that it runs and those joined to it, of which episodes may be under way."""
        yield from islice(self.calls, 1)
        yield from takewhile(lambda call: call.is_joined, islice(self.calls, 1, None))


@dataclass(frozen=True)
class Lapse:
    """A worker is gone; the cause as a clause."""

    cause: str


class Hands:
    """The workers of a run; needs an open `ray_session`. Leaving the block ends them.

    Args:
        plans: what they make.
        store: where to; a folder that every worker sees under this path.
        config: how many there are, and with what.
    """

    def __init__(self, plans: Sequence[RolloutPlan], store: Path, config: FleetConfig) -> None:
        self._plans, self._store, self._config = plans, store, config
        self._hands: list[Hand] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            self._mark = opening.enter_context(marked_folder(self._store))
            self._strategy = opening.enter_context(placed(self._config))
            opening.callback(self._dismiss)
            for worker in range(self._config.num_workers):
                self._hands.append(self._hire(worker, worker % len(self._plans)))
            self._open = opening.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def __iter__(self) -> Iterator[Hand]:
        return iter(self._hands)

    def send(self, hand: Hand, batch: Batch) -> None:
        """Give a worker a call, which it runs after those it has."""
        hand.number = batch.number
        hand.num_sent += 1
        is_joined = bool(hand.calls) and _can_join(hand.calls[-1].batch, batch)
        if is_joined:
            hand.actor.announce.options(concurrency_group=_BESIDE).remote(hand.num_sent, batch.indices)
        ref = hand.actor.run.remote(hand.num_sent, batch.number, batch.indices)
        hand.calls.append(Call(batch, ref, is_joined))
        hand.calls[0].since = min(hand.calls[0].since, time.monotonic())

    def answers(self, timeout_s: float) -> list[tuple[Hand, Sequence[EpisodeSummary] | Lapse]]:
        """Wait until a worker ends the call it runs, or is lost.

        Returns:
            Each such worker with the summaries of that call, which it still has, or with why it is gone.

        Raises:
            DemoloomError: what a worker met concerns all episodes.
        """
        import ray

        heads = {hand.calls[0].ref: hand for hand in self._hands if hand.calls}
        if not heads:
            return []
        ready, _ = ray.wait(list(heads), timeout=timeout_s)
        return [(heads[ref], _answer(ref)) for ref in ready]

    def replace(self, hand: Hand) -> None:
        """End a worker and put another in its place."""
        import ray

        ray.kill(hand.actor)
        self._hands[self._hands.index(hand)] = self._hire(hand.worker, hand.number)

    def end(self) -> None:
        """Let each worker end the episodes under way and begin no others."""
        for hand in self._hands:
            hand.actor.end.options(concurrency_group=_BESIDE).remote()

    def _hire(self, worker: int, number: int) -> Hand:
        import ray

        config = self._config
        actor_class = ray.remote(
            num_cpus=config.num_cpus,
            num_gpus=config.num_gpus,
            resources=dict(config.resources),
            scheduling_strategy=self._strategy,
            max_restarts=0,
            max_task_retries=0,
            concurrency_groups={_BESIDE: 1},
        )(WorkerShell)
        actor = actor_class.remote(self._plans, self._store, config.max_failures_in_a_row)
        hand = Hand(actor, worker, number)
        # To import and load a world may take longer than an episode, so that it is timed apart.
        ref = hand.actor.start.remote(number, self._mark, config.num_gpus)
        hand.calls.append(Call(Batch(number, ()), ref, since=time.monotonic()))
        return hand

    def _dismiss(self) -> None:
        import ray

        for hand in self._hands:
            ray.kill(hand.actor)


def _can_join(before: Batch, batch: Batch) -> bool:
    return before.number == batch.number and not (before.is_suspect or batch.is_suspect)


def _answer(ref: Any) -> Sequence[EpisodeSummary] | Lapse:
    import ray
    from ray.exceptions import (
        ActorUnavailableError,
        OutOfMemoryError,
        RayActorError,
        RuntimeEnvSetupError,
    )

    try:
        result = ray.get(ref)
    except OutOfMemoryError:
        return Lapse("its worker was ended for lack of memory")
    except RuntimeEnvSetupError as error:
        raise FleetError(f"a node of the Ray cluster could not be given this project's code: {error}") from error
    except ActorUnavailableError:
        return Lapse("its node was lost")
    except RayActorError as error:
        return Lapse(_cause(str(error)))
    if isinstance(result, DemoloomError):
        raise result
    return list(result)


def _cause(words: str) -> str:
    """Why an actor died, from what Ray says of it."""
    if "No module named" in words:
        raise FleetError(
            f"a node of the Ray cluster cannot run a worker ({words.strip().splitlines()[-1]}); install this project "
            "and its plug-ins there, or name them in the fleet's `ship`"
        )
    return "its node was lost" if "node has died" in words else "its worker died"
