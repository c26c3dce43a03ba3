"""Stage `evaluate`: policies and other streams scored from one list of initial states, in reality and in the world."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...generators.fleet import FleetConfig
from ...generators.plan import RolloutPlan
from ...storage.episode import EpisodeSummary
from ...storage.errors import ConfigError
from ...storage.plugins import PluginRef
from ...storage.progress import Progress
from ..checks import require_at_least
from ..plain import to_plain

Place = Literal["reality", "world"]


@dataclass(frozen=True)
class EvaluateConfig:
    """How scores are measured.

    Args:
        num_episodes: initial states; every contestant starts from each of them once.
        max_steps: length of an episode that is not solved.
        num_slots: episodes stepped together by one worker.
        in_world: also score the policy in the world model, from the same initial states.
        expert: also score the scripted expert in reality.
    """

    num_episodes: int = 50
    max_steps: int = 300
    num_slots: int = 16
    in_world: bool = True
    expert: bool = True

    def __post_init__(self) -> None:
        require_at_least(1, num_episodes=self.num_episodes, max_steps=self.max_steps, num_slots=self.num_slots)


@dataclass(frozen=True)
class Contestant:
    """A stream to be scored: its name in tables, and where it acts."""

    name: str
    place: Place
    stream: PluginRef

    @property
    def key(self) -> str:
        """Name of its folder."""
        return f"{self.name}-in-{self.place}"


def evaluate(
    config: EvaluateConfig,
    contestants: Sequence[Contestant],
    reality: PluginRef,
    world: PluginRef | None,
    seed: int,
    out: Path,
    work: Path,
    fleet: FleetConfig,
    progress: Progress,
) -> dict[str, Any]:
    """Score each contestant from the same initial states.

    Args:
        config: how many initial states, and for how long.
        contestants: who, and where.
        reality: draws the initial states, also for the world model.
        world: the world model; may be missing if nobody acts there.
        seed: run seed; initial state i is the one that reality draws for it.
        out: gets `scores.json` and the episodes, one Zarr store for each contestant.
        work: keeps the episodes that a later call with the same arguments goes on from.
        fleet: the workers that host reality and the world.
        progress: told how far it is.

    Returns:
        The scores, with 95 % intervals, as in `scores.json`, and a table of what was lost and made again.
    """
    from ...generators.fleet import lost_and_redone, run_episodes
    from ...policies.evaluation import score
    from ...storage.atomic import publish_folder, write_json

    scores: list[dict[str, Any]] = []
    lost: list[dict[str, Any]] = []
    for contestant in contestants:
        plan = _plan(config, contestant, reality, world, seed)
        summaries = run_episodes(
            plan, range(config.num_episodes), work / contestant.key, config=fleet, progress=progress
        )
        scores.append(_row(contestant, score(contestant.name, summaries), summaries))
        lost += [{"contestant": contestant.key, **row} for row in lost_and_redone(work / contestant.key)]
    table = {"num_episodes": config.num_episodes, "max_steps": config.max_steps, "seed": seed, "scores": scores}
    with publish_folder(out) as folder:
        for contestant in contestants:
            shutil.move(work / contestant.key, folder / contestant.key)
        write_json(folder / "scores.json", table)
    return {**table, "lost": lost}


def _plan(
    config: EvaluateConfig, contestant: Contestant, reality: PluginRef, world: PluginRef | None, seed: int
) -> RolloutPlan:
    from ...policies.evaluation import evaluation_plan

    in_world = contestant.place == "world"
    if in_world and world is None:
        raise ConfigError(f"{contestant.name} is to act in the world model, but no world was given; give --world")
    return evaluation_plan(
        world if in_world and world is not None else reality,
        contestant.stream,
        run_seed=seed,
        max_steps=config.max_steps,
        reality=reality if in_world else None,
        num_slots=config.num_slots,
    )


def _row(contestant: Contestant, score: Any, summaries: Sequence[EpisodeSummary]) -> dict[str, Any]:
    return {
        **to_plain(score),
        "place": contestant.place,
        "key": contestant.key,
        "score_max": [round(float(summary.score_max), 4) for summary in summaries],
    }
