"""How long a learned PushT world stays a PushT world; a part of `benchmarks/world.py`.

An episode is alive while, at every look, one agent and one T of the right area and shape are shown where the world says
they are, the block is where physics can put it, and the agent where its commands put it. That the block stays on the
board is no condition: gym-pusht's agent, which nothing stops, presses the block through the walls, so that reality
loses blocks too. Their shares are shown side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from world_physics import BOUNDS, Agents, Judge, agents_agree, angle_between, distance_between, within
from world_rollouts import RealRollout, Rollout, draw_starts, make_driver
from world_trials import STEPS, Trial, Verdicts, begin_trial, end_trial

from demoloom.generators.learned.checkpoint import from_pretrained
from demoloom.generators.learned.world import LearnedWorld

#: Steps between two looks.
EVERY = 100
#: Where a block's origin can be: in 16 real episodes of 4,500 steps it was between -27 and 539.
_REACH = (-30.0, 542.0)
#: How far the agent may be from where its commands put it.
_LAG = 10.0
#: Least share of agreement between the pixels that show something, in the world and drawn by physics.
_OVERLAP = 0.75


@dataclass(frozen=True)
class Survival:
    """What became of episodes.

    Args:
        steps: when they were looked at.
        alive: share of them that were right at every look so far.
        on_board: share of them whose block's origin was on the board at every look so far.
        creep: how far their blocks have moved and turned in the end, each (N,), in units and degrees.
        trials: what physics made of moments of them, one entry for each step asked for.
    """

    steps: Sequence[int]
    alive: Sequence[float]
    on_board: Sequence[float]
    creep: tuple[np.ndarray, np.ndarray]
    trials: Sequence[Verdicts] = ()


def survive(world: Path, kind: str, num_seeds: int, num_steps: int, moments: Sequence[int] = ()) -> Survival:
    """Drive a world for long.

    Args:
        world: a checkpoint.
        kind: of stream, `random`, `idle` or `expert`.
        num_seeds: episodes.
        num_steps: of each.
        moments: when physics is put where the world is, each more than 32 steps after the one before.
    """
    torch.set_num_threads(1)
    checkpoint = from_pretrained(world)
    spec, starts = checkpoint.model.spec, draw_starts(checkpoint, num_seeds, seed=1)
    rollout = Rollout(checkpoint.model, make_driver(kind, spec, str(world / "probe")), starts)
    looks, trials = _Looks(Judge(spec.cameras[0].height), Agents(starts.agents), num_seeds), _Trials(world, num_seeds)
    while len(rollout.commands) < num_steps:
        if len(rollout.commands) in moments:
            trials.begin(rollout)
        rollout.step()
        trials.end_if_due(rollout)
        looks.follow(rollout)
    creep = distance_between(starts.poses, rollout.poses), angle_between(starts.poses, rollout.poses)
    return Survival(looks.steps, looks.alive, looks.on_board, creep, trials.ended)


def survive_in_reality(world: Path, kind: str, num_seeds: int, num_steps: int) -> Survival:
    """The same stream from the same starts in gym-pusht, where all is alive for ever but blocks leave the board."""
    checkpoint = from_pretrained(world)
    starts = draw_starts(checkpoint, num_seeds, seed=1)
    rollout = RealRollout(make_driver(kind, checkpoint.model.spec, str(world / "probe")), starts)
    steps, on_board, stayed = [], [], np.ones(num_seeds, bool)
    while len(rollout.commands) < num_steps:
        rollout.step()
        if _is_due(len(rollout.commands)):
            stayed &= within(rollout.poses, BOUNDS)
            steps.append(len(rollout.commands))
            on_board.append(float(stayed.mean()))
    creep = distance_between(starts.poses, rollout.poses), angle_between(starts.poses, rollout.poses)
    return Survival(steps, [1.0] * len(steps), on_board, creep)


def _is_due(step: int) -> bool:
    return step % EVERY == 0 or step == 1


class _Looks:
    """Looks at a rollout every so often, and remembers who has been right so far."""

    def __init__(self, judge: Judge, agents: Agents, num_seeds: int) -> None:
        self._judge, self._agents = judge, agents
        self._right, self._stayed = np.ones(num_seeds, bool), np.ones(num_seeds, bool)
        self.steps: list[int] = []
        self.alive: list[float] = []
        self.on_board: list[float] = []

    def follow(self, rollout: Rollout) -> None:
        """Take note of the step that was just made."""
        self._agents.step(rollout.commands[-1])
        if not _is_due(len(rollout.commands)):
            return
        self._right &= self._is_right(rollout)
        self._stayed &= within(rollout.poses, BOUNDS)
        self.steps.append(len(rollout.commands))
        self.alive.append(float(self._right.mean()))
        self.on_board.append(float(self._stayed.mean()))

    def _is_right(self, rollout: Rollout) -> np.ndarray:
        agents, poses = rollout.agents, rollout.poses
        shown, drawn = rollout.frames(), self._judge.draw(agents, poses)
        looks_right = (self._judge.overlaps(shown, drawn) > _OVERLAP) & agents_agree(shown, drawn)
        follows = np.linalg.norm(agents - self._agents.position, axis=1) < _LAG
        right: np.ndarray = looks_right & within(poses, _REACH) & follows
        return right


class _Trials:
    """The trials of one rollout, one after the other."""

    def __init__(self, world: Path, num_slots: int) -> None:
        self._world = LearnedWorld(str(world), num_slots)
        self._world.reset(seed=0)
        self._under_way: Trial | None = None
        self.ended: list[Verdicts] = []

    def begin(self, rollout: Rollout) -> None:
        self._under_way = begin_trial(rollout, self._world)

    def end_if_due(self, rollout: Rollout) -> None:
        if self._under_way is not None and len(rollout.commands) == self._under_way.step + STEPS:
            self.ended.append(end_trial(self._under_way, rollout, self._world))
            self._under_way = None
