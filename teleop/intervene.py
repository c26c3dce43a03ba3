"""A policy drives and somebody takes over: a person who says when, or an expert by a rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..generators.stream import ActionStream, Correcting, Observation
from ..storage.errors import ConfigError
from ..storage.spec import EpisodeSpec
from .inner_stream import inner_stream

#: A score counts as better from this much more on, so that the noise of a world that guesses it is no progress.
_PROGRESS = 0.005


@dataclass(frozen=True)
class Rule:
    """When an expert takes over that does not say so itself, and for how long; any of the conditions will do.

    Args:
        chance: probability of it at each step.
        stalled: steps without a better score than before; 0: however many.
        min_trust: the trust below which the policy may go no further.
        turn: least and greatest number of steps that the expert then drives.

    Raises:
        ConfigError: a number is out of its range.
    """

    chance: float = 0.0
    stalled: int = 0
    min_trust: float = 0.0
    turn: tuple[int, int] = (20, 60)

    def __post_init__(self) -> None:
        for name in ("chance", "min_trust"):
            if not 0 <= getattr(self, name) <= 1:
                raise ConfigError(f"{name} of intervene must lie in [0, 1], got {getattr(self, name)}")
        if self.stalled < 0:
            raise ConfigError(f"stalled of intervene is a number of steps, 0 or more, got {self.stalled}")
        if len(self.turn) != 2 or not 1 <= self.turn[0] <= self.turn[1]:
            raise ConfigError(f"turn of intervene must be (least, greatest), at least 1 step, got {tuple(self.turn)}")

    @property
    def is_empty(self) -> bool:
        """Whether it never applies."""
        return not (self.chance or self.watches)

    @property
    def watches(self) -> bool:
        """Whether it asks for score or trust."""
        return bool(self.stalled or self.min_trust)


@runtime_checkable
class TakingOver(Protocol):
    """What an expert is besides if it decides itself when to drive, as a person does."""

    def takes_over(self) -> np.ndarray:
        """(N,) bool: slots in which it wants its action of the last `act` to be the one that counts."""
        ...


class Intervene:
    """One stream drives until another takes over; who drove is recorded with each step (`Intervening`).

    What the expert does from where a policy has got to is what the policy lacks. Recorded are the actions of whoever
    drives, and the expert's steps are marked (HG-DAgger, Kelly et al. 2019); `Dagger` records the expert's everywhere.
    A driver that gets control back starts anew from what it then sees, so it must be one that plans from what it sees.

    Args:
        spec: of the world to drive.
        driver: `name` and `kwargs` of the stream that drives, a policy as a rule.
        expert: `name` and `kwargs` of the stream that takes over. One that says when (`TakingOver`), as a
            person's does, decides itself at every step; any other follows the rule.
        chance, stalled, min_trust, turn: see `Rule`.

    Raises:
        ConfigError: a number is out of its range, a stream cannot be used, the expert would never take over, or both
            it and a rule would decide when; in `act`: a rule on score or trust, where nobody tells it these.
        PluginError: there is no such stream.
    """

    def __init__(
        self,
        spec: EpisodeSpec,
        driver: Mapping[str, Any],
        expert: Mapping[str, Any],
        chance: float = 0.0,
        stalled: int = 0,
        min_trust: float = 0.0,
        turn: Sequence[int] = (20, 60),
    ) -> None:
        self._rule = Rule(chance, stalled, min_trust, tuple(turn))  # type: ignore[arg-type]
        self._driver = inner_stream("intervene", "the driver", driver, spec)
        self._expert = inner_stream("intervene", "the expert", expert, spec)
        self._decides = isinstance(self._expert, TakingOver)
        # One that decides for itself, or whose advice is wanted, sees every step; another is only woken for its turns.
        self._always_acts = self._decides or isinstance(self, Correcting)
        self._check_rule(str(expert["name"]))
        self._slots: list[_Slot] = []
        self._told: tuple[np.ndarray, np.ndarray] | None = None
        self._advice = np.zeros((0, spec.action.size), np.float32)

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """See ActionStream.reset; both streams get the same seeds."""
        self._driver.reset(seeds, mask)
        self._expert.reset(seeds, mask)
        if len(self._slots) != len(mask):
            self._slots = [_Slot(self._rule) for _ in mask]
        for slot in np.flatnonzero(mask):
            self._slots[slot].begin(seeds[slot])

    def watch(self, score: np.ndarray, trust: np.ndarray) -> None:
        """See Watching.watch."""
        self._told = score, trust

    def act(self, observation: Observation) -> np.ndarray:
        """See ActionStream.act."""
        before = self.intervening()
        if self._decides:
            self._advice = self._expert.act(observation)
            self._let_expert_decide()
        else:
            self._apply_rule()
        now = self.intervening()
        self._restart(self._driver, before & ~now)
        if not self._always_acts:
            self._restart(self._expert, now & ~before)
        if not self._decides and (self._always_acts or now.any()):
            self._advice = self._expert.act(observation)
        driven = self._driver.act(observation)
        return np.where(now[:, None], self._advice, driven).astype(np.float32) if now.any() else driven

    def intervening(self) -> np.ndarray:
        """See Intervening.intervening: where the expert drives."""
        return np.array([slot.is_taken for slot in self._slots], bool)

    def finished(self) -> np.ndarray:
        """See ActionStream.finished: where the driver is, while it drives, or the expert, if it decides itself."""
        taken = self.intervening()
        over: np.ndarray = self._driver.finished() & ~taken
        return over | (taken & self._expert.finished()) if self._decides else over

    def close(self) -> None:
        """Let go of the devices that the two may hold."""
        for stream in (self._driver, self._expert):
            if hasattr(stream, "close"):
                stream.close()

    def _check_rule(self, expert: str) -> None:
        if self._decides and not self._rule.is_empty:
            raise ConfigError(
                f"the expert {expert!r} of intervene decides itself when it takes over; leave out chance, stalled and "
                "min_trust"
            )
        if self._rule.is_empty and not self._always_acts:
            raise ConfigError(
                f"the expert {expert!r} of intervene would never take over; say when (chance, stalled or min_trust)"
            )

    def _let_expert_decide(self) -> None:
        assert isinstance(self._expert, TakingOver)
        for slot, takes_over in zip(self._slots, self._expert.takes_over(), strict=True):
            slot.is_taken = bool(takes_over)

    def _apply_rule(self) -> None:
        if self._told is None and self._rule.watches:
            raise ConfigError(
                "intervene is told neither score nor trust here, which its rule needs; let it drive by itself, not as "
                "part of another stream, or give it a chance instead"
            )
        score, trust = self._told or (np.zeros(len(self._slots)), np.ones(len(self._slots)))
        given_up = self._expert.finished()
        for number, slot in enumerate(self._slots):
            slot.look(float(score[number]), float(trust[number]), bool(given_up[number]))

    def _restart(self, stream: ActionStream, mask: np.ndarray) -> None:
        if mask.any():
            stream.reset(
                [slot.fresh_seed() if begins else 0 for slot, begins in zip(self._slots, mask, strict=True)], mask
            )


class Dagger(Intervene):
    """As `Intervene`, but every step is recorded with the expert's action, whoever drove (DAgger, Ross et al. 2011).

    The policy decides where episodes go, and the expert what is learnt there (`Correcting`). Without a rule the policy
    drives throughout. With `chance` c and turns of one step it is the paper's mixture of both, with c for its beta.
    """

    def corrective(self) -> np.ndarray:
        """See Correcting.corrective."""
        return np.array(self._advice, np.float32)


class _Slot:
    """Who drives one episode."""

    def __init__(self, rule: Rule) -> None:
        self.is_taken = False
        self._rule = rule
        self._steps_left = 0
        self._best = 0.0
        self._since_best = 0
        self._rng = np.random.default_rng(0)

    def begin(self, seed: int) -> None:
        self.is_taken, self._steps_left, self._best, self._since_best = False, 0, 0.0, 0
        # A branch of its own, as the streams draw from the seed itself.
        self._rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))

    def look(self, score: float, trust: float, expert_is_done: bool) -> None:
        """Decide who does the next step."""
        self._since_best = 0 if score > self._best + _PROGRESS or self.is_taken else self._since_best + 1
        self._best = max(self._best, score)
        self._steps_left -= 1
        if self.is_taken and self._steps_left > 0 and not expert_is_done:
            return
        self.is_taken = not self.is_taken and self._is_due(trust)
        if self.is_taken:
            self._steps_left = int(self._rng.integers(self._rule.turn[0], self._rule.turn[1] + 1))

    def fresh_seed(self) -> int:
        """A seed for a stream that begins anew."""
        return int(self._rng.integers(2**62))

    def _is_due(self, trust: float) -> bool:
        rule = self._rule
        by_chance = rule.chance > 0 and self._rng.uniform() < rule.chance
        return by_chance or trust < rule.min_trust or 0 < rule.stalled <= self._since_best
