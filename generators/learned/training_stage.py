"""One training and its stages: where each gets random numbers, and how it saves, logs and shares its work."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch

from ...storage.errors import CheckpointError
from .moments import Moments
from .peers import Peers
from .training_log import TrainingLog


class Stateful(Protocol):
    """What a training carries from step to step and must find again, as tensors and numbers."""

    def state_dict(self) -> dict[str, Any]:
        """What it is now."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> object:
        """Be again what it was."""


class Halted(Exception):  # noqa: N818
    """Another thread of the same training failed, which raises its own error."""


@dataclass(frozen=True)
class Training:
    """What all stages of one training share.

    Args:
        seed: of all random numbers.
        log: told of every step.
        moments: where stages save themselves; by default nowhere.
        peers: processes that train together; by default this one alone.
        check_every: steps between two checks of a stage that has one, 0 for none.
        halted: set when a thread failed; the others end at their next steps.
    """

    seed: int
    log: TrainingLog
    moments: Moments = field(default_factory=Moments)
    peers: Peers = field(default_factory=Peers)
    check_every: int = 0
    halted: threading.Event = field(default_factory=threading.Event, repr=False)

    def stage(self, name: str) -> TrainingStage:
        """A stage; its name, unique in a training, decides its random numbers and where it is saved."""
        return TrainingStage(self, name)

    @contextmanager
    def second_thread(self) -> Iterator[Callable[..., None]]:
        """Give what starts work in a second thread, piece after piece; at the end of the block all of it is done.

        An error in either thread ends both, at their next steps, and is raised here.
        """
        pieces: list[Future[None]] = []
        with ThreadPoolExecutor(1) as side:
            try:
                yield lambda work, *args: pieces.append(side.submit(self._guarded, work, *args))
                _raise_errors(pieces)
            except Halted:
                _raise_errors(pieces)
                raise
            except BaseException:
                self.halted.set()
                raise

    def _guarded(self, work: Callable[..., None], *args: Any) -> None:
        try:
            work(*args)
        except BaseException:
            self.halted.set()
            raise


class TrainingStage:
    """One stage of a training.

    Attributes:
        name: as the log shows it.
        rng, noise: random numbers of NumPy and of torch. Those of a step depend on the training's seed, the stage, the
            process and the step alone, so that a training that goes on draws what the one that was killed would have.
        group: the processes that share this stage.
    """

    def __init__(self, training: Training, name: str) -> None:
        self.name, self._training = name, training
        self.group = training.peers.group(name)
        self.rng, self.noise = np.random.Generator(np.random.PCG64()), torch.Generator()
        self.turn_to(-1)

    def turn_to(self, step: int) -> None:
        """Draw the random numbers of a step from now on; -1 stands for what comes before the first.

        Raises:
            Halted: another thread of this training failed.
        """
        if self._training.halted.is_set():
            raise Halted
        entropy = [self._training.seed, zlib.crc32(self.name.encode())]
        source = np.random.SeedSequence(entropy, spawn_key=(self.group.rank, step + 1))
        self.rng.bit_generator.state = np.random.PCG64(source).state
        self.noise.manual_seed(int(source.generate_state(5)[-1]))

    def check_due(self, step: int) -> bool:
        """Whether to check after this step; only the first process ever does."""
        every = self._training.check_every
        return self.group.rank == 0 and every > 0 and step % every == every - 1

    def log(self, step: int, loss: float, lr: float) -> None:
        """Tell of a step."""
        if self.group.rank == 0:
            self._training.log.step(self.name, step, loss, lr)

    def measure(self, step: int, values: Mapping[str, float]) -> None:
        """Log what a check found."""
        self._training.log.measure(self.name, step, values)

    def agree(self, loss: float) -> tuple[float, bool]:
        """The mean loss of all processes, and whether the first of them finds it time to save."""
        due = self.group.rank == 0 and self._training.moments.due(self.name)
        mean, saves = self.group.mean(loss, due)
        return mean, saves > 0

    def save(self, step: int, shared: Stateful, own: list[Stateful]) -> None:
        """Save the moment before `step`.

        Args:
            shared: the same in all processes.
            own: each process has its own.
        """
        each = self.group.gather([one.state_dict() for one in own])
        if self.group.rank == 0:
            self._training.moments.save(self.name, {"step": step, "shared": shared.state_dict(), "own": each})

    def go_on(self, shared: Stateful, own: list[Stateful]) -> int:
        """Go back to the last saved moment and return the step that is next, 0 where there is none.

        Raises:
            CheckpointError: the moment is damaged, or of networks of another shape.
        """
        moment = self._training.moments.load(self.name)
        if moment is None:
            return 0
        try:
            shared.load_state_dict(moment["shared"])
            for one, state in zip(own, moment["own"][self.group.rank], strict=True):
                one.load_state_dict(state)
        except (KeyError, ValueError, RuntimeError, IndexError) as error:
            raise CheckpointError(
                f"the saved moment of {self.name!r} does not fit this version of demoloom ({error}); delete "
                f"{self._training.moments.folder} to train from the beginning"
            ) from error
        step = int(moment["step"])
        if self.group.rank == 0:
            self._training.log.go_on(self.name, step)
        return step


def _raise_errors(pieces: Sequence[Future[None]]) -> None:
    for piece in pieces:
        piece.result()
