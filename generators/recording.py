"""One episode under way: its rows so far, and whether they end it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..storage.episode import Episode, Outcome
from .plan import RolloutPlan
from .stream import Observation

IMAGES = "observation.images."


class Verdict(NamedTuple):
    """How an episode ended, and why, as a sentence."""

    outcome: Outcome
    reason: str


@dataclass(frozen=True)
class Step:
    """What N slots saw, did and came to; row i is the slot's own.

    Args:
        observation: before the action.
        labels: of that observation.
        action: (N, A) float32, within the bounds: what is recorded, which a stream may say is not what was commanded.
        reward: (N,) after the action.
        info: the world's, after the action.
        intervention: (N,) bool, whose action is that of who took over; None if the stream does not say.
    """

    observation: Observation
    labels: Mapping[str, np.ndarray]
    action: np.ndarray
    reward: np.ndarray
    info: Mapping[str, Any]
    intervention: np.ndarray | None = None

    def row(self, slot: int) -> dict[str, Any]:
        """One slot's part, copied, so that it does not keep its neighbours' frames alive."""
        return {
            "images": {
                key.removeprefix(IMAGES): self.observation[key][slot].copy()
                for key in self.observation
                if key.startswith(IMAGES)
            },
            "labels": {name: values[slot].copy() for name, values in self.labels.items()},
            "state": self.observation["observation.state"][slot].copy(),
            "action": self.action[slot].copy(),
            "reward": self.reward[slot],
            **{name: self.info[name][slot] for name in ("success", "score", "trust")},
            **({} if self.intervention is None else {"intervention": self.intervention[slot]}),
        }


class Recording:
    """Collects the rows of episode `index` and judges them by its plan.

    `start` is where it starts, by name of a dimension (see `coverage`), for its lineage.
    """

    def __init__(self, plan: RolloutPlan, index: int) -> None:
        self.plan = plan
        self.index = index
        self.seed = plan.episode_seed(index)
        self.start: dict[str, float] = {}
        self.solved = False
        self._streak = 0
        self._rows: list[dict[str, Any]] = []

    def add(self, row: dict[str, Any]) -> None:
        """Append what `Step.row` gave for this episode's slot."""
        if self.plan.success_score is not None:
            row["success"] = row["score"] >= self.plan.success_score
        self._rows.append(row)
        self._streak = self._streak + 1 if row["success"] else 0
        self.solved = self.solved or self._streak >= self.plan.success_hold

    def verdict(self, stream_finished: bool) -> Verdict | None:
        """Why the episode ends after its last row; None: it goes on. An untrusted success is not believed."""
        length, trust = len(self._rows), float(self._rows[-1]["trust"])
        if trust < self.plan.min_trust:
            return Verdict("untrusted", f"trust fell to {trust:.2f} (below {self.plan.min_trust:g}) at step {length}")
        if self.solved and (self.plan.stop_on_success or stream_finished or length == self.plan.max_steps):
            return Verdict("success", "")
        if stream_finished:
            return Verdict("failure", f"the stream ended after {_steps(length)} without solving the task")
        if length == self.plan.max_steps:
            return Verdict("failure", f"not solved within {_steps(length)}")
        return None

    def episode(self, verdict: Verdict, task: str, lineage: Mapping[str, Any]) -> Episode:
        """All rows as one episode."""
        return Episode(
            id=self.plan.episode_id(self.index),
            index=self.index,
            seed=self.seed,
            task=task,
            images=self._stacked("images"),
            state=self._column("state", np.float32),
            action=self._column("action", np.float32),
            reward=self._column("reward", np.float32),
            success=self._column("success", bool),
            score=self._column("score", np.float32),
            trust=self._column("trust", np.float32),
            labels=self._stacked("labels"),
            intervention=self._column("intervention", bool) if "intervention" in self._rows[0] else None,
            outcome=verdict.outcome,
            reason=verdict.reason,
            lineage={**lineage, "seed": self.seed, "index": self.index, "start": self.start},
        )

    def _column(self, name: str, dtype: type) -> np.ndarray:
        return np.array([row[name] for row in self._rows], dtype)

    def _stacked(self, name: str) -> dict[str, np.ndarray]:
        return {key: np.stack([row[name][key] for row in self._rows]) for key in self._rows[0][name]}


def _steps(count: int) -> str:
    return f"{count} step{'s' * (count != 1)}"


def seeds_of(recordings: Sequence[Recording | None]) -> list[int]:
    """One seed for each slot; an idle slot's does not matter."""
    return [recording.seed if recording else 0 for recording in recordings]
