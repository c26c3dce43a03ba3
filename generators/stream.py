"""The contract between a world and whatever drives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

Observation = Mapping[str, np.ndarray]


@runtime_checkable
class ActionStream(Protocol):
    """Drives N episodes at once from observations alone.

    A script, a recording, a policy and a person are all streams. Slot i of every call belongs to one
    episode, until `reset` gives it the next. What a stream does in slot i depends on that slot's seed and
    observations only, never on the other slots or on N.
    """

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """Start new episodes in the slots where `mask` (N,) bool is true.

        Args:
            seeds: N of them; those where the mask is false are ignored.
            mask: which slots start anew. The first call has all of them true and fixes N.
        """
        ...

    def act(self, observation: Observation) -> np.ndarray:
        """Return the actions (N, A) float32 for `observation`, as World.reset and World.step return it.

        A slot whose episode has ended still gets a row; what stands in it does not matter.
        """
        ...

    def finished(self) -> np.ndarray:
        """(N,) bool: slots whose stream has nothing more to do (a recording has ended, a person pressed stop)."""
        ...


@runtime_checkable
class Intervening(Protocol):
    """What a stream is besides if it knows who drives; `rollout` then records it."""

    def intervening(self) -> np.ndarray:
        """(N,) bool: slots whose action, of those that `act` returned last, is that of who took over.

        Who took over is a person, or what stands for one; the others' actions are those of a policy or a script.
        """
        ...


@runtime_checkable
class Correcting(Protocol):
    """What a stream is besides if not what it does is to be learnt, but what puts it right.

    It disturbs on purpose (DART, Laskey et al. 2017) or lets a policy err (DAgger, Ross et al. 2011). `rollout` records
    the corrective actions in the place of those which the world was given.
    """

    def corrective(self) -> np.ndarray:
        """(N, A) float32: what should be done on seeing the observation that `act` was given last."""
        ...


@runtime_checkable
class Watching(Protocol):
    """What a stream is besides if it looks at what the world says of itself, as somebody who supervises does."""

    def watch(self, score: np.ndarray, trust: np.ndarray) -> None:
        """Take in (N,) score and (N,) trust, as World.step reports them, of what `act` will be given next."""
        ...
