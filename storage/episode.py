"""One episode: T rows of what was seen, what was commanded and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

import numpy as np

#: `rejected`: a success that a later look at its quality set apart.
Outcome = Literal["success", "failure", "untrusted", "rejected", "error"]


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Row t is (observation o_t, action a_t commanded on seeing it, reward / success / score / trust after it).

    Args:
        images: camera name -> (T, H, W, 3) uint8 RGB.
        state: (T, S) float32.
        action: (T, A) float32; where the lineage says `actions: corrective`, what should have been commanded instead
            (`generators.stream.Correcting`).
        reward: (T,) float32.
        success: (T,) bool, whether the task is solved after the step.
        score: (T,) float32 in [0, 1], how far the task is solved after the step.
        trust: (T,) float32 in [0, 1], how far the step may be believed; 1 in reality.
        labels: label name -> (T, L) float32, of o_t (not of the observation after the action).
        intervention: (T,) bool, whether a person, or whoever takes over from a policy, commanded a_t; None where the
            spec keeps no such column. The name and the meaning are those of LeRobot's DAgger recordings
            (`lerobot.rollout.configs.DAggerStrategyConfig`).
    """

    images: Mapping[str, np.ndarray]
    state: np.ndarray
    action: np.ndarray
    reward: np.ndarray
    success: np.ndarray
    score: np.ndarray
    trust: np.ndarray
    labels: Mapping[str, np.ndarray] = field(default_factory=dict)
    intervention: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.action)

    def rows(self, start: int, stop: int) -> Rows:
        """Rows start .. stop - 1, as views."""
        chosen = slice(start, stop)
        return Rows(
            images={name: frames[chosen] for name, frames in self.images.items()},
            labels={name: values[chosen] for name, values in self.labels.items()},
            intervention=None if self.intervention is None else self.intervention[chosen],
            **{name: getattr(self, name)[chosen] for name in ROW_ARRAYS},
        )


#: The fields of `Rows` that are single arrays, in every episode.
ROW_ARRAYS = ("state", "action", "reward", "success", "score", "trust")


@dataclass(frozen=True, kw_only=True)
class Episode(Rows):
    """The rows of one episode, and what is known of it as a whole.

    Args:
        id: unique name of this episode, safe as a file name.
        index: its number in its run; seed and id follow from it.
        seed: what its world and stream were seeded with.
        task: the instruction, as a person would say it.
        outcome: `success` episodes are demonstrations; the rest is kept apart.
        reason: why the outcome is what it is, as a sentence; empty for success.
        lineage: how this episode was made: code version, stage, world, stream, start, source.
    """

    id: str
    index: int
    seed: int
    task: str
    outcome: Outcome
    reason: str = ""
    lineage: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_demonstration(self) -> bool:
        """True for a successful, trusted episode."""
        return self.outcome == "success"


_KINDS: Mapping[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("id", "task", "outcome", "reason"), str),
    **dict.fromkeys(("index", "seed", "length"), int),
    **dict.fromkeys(("score_max", "score_last", "trust_min"), (int, float)),
    "success": bool,
    "lineage": Mapping,
}


@dataclass(frozen=True)
class EpisodeSummary:
    """All that is known of an episode without reading its rows.

    Args:
        id, index, seed, task, outcome, reason, lineage: as in `Episode`.
        length: number of rows.
        score_max: best score of any step, in [0, 1].
        score_last: score after the last step, in [0, 1].
        success: whether the task was solved after any step.
        trust_min: least trust of any step, in [0, 1].
    """

    id: str
    index: int
    seed: int
    task: str
    length: int
    outcome: Outcome
    reason: str
    score_max: float
    score_last: float
    success: bool
    trust_min: float
    lineage: Mapping[str, Any]

    @property
    def is_demonstration(self) -> bool:
        """True for a successful, trusted episode."""
        return self.outcome == "success"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EpisodeSummary:
        """Inverse of `to_dict`, also after a round trip through JSON; keys of later versions are passed over.

        Raises:
            KeyError, TypeError: `data` is no summary.
        """
        for name, kind in _KINDS.items():
            if not isinstance(data[name], kind):
                raise TypeError(f"{name} is {data[name]!r}")
        return cls(**{entry.name: data[entry.name] for entry in fields(cls)})


def summarise(episode: Episode) -> EpisodeSummary:
    """The summary of an episode of at least one row."""
    return EpisodeSummary(
        id=episode.id,
        index=episode.index,
        seed=episode.seed,
        task=episode.task,
        length=len(episode),
        outcome=episode.outcome,
        reason=episode.reason,
        score_max=float(episode.score.max()),
        score_last=float(episode.score[-1]),
        success=bool(episode.success.any()),
        trust_min=float(episode.trust.min()),
        lineage=episode.lineage,
    )
