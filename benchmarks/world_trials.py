"""How right a learned PushT world is at a moment, and whether its trust says so; a part of `benchmarks/world.py`.

Physics is put where the world is, and both go on with the same commands for 32 steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from world_physics import BOUNDS, Physics, angle_between, distance_between, speed_now, within
from world_rollouts import Random, RealRollout, Rollout, draw_starts

from demoloom.generators.learned.checkpoint import from_pretrained
from demoloom.generators.learned.world import LearnedWorld, Snapshot

#: How long a trial lasts.
STEPS = 32
#: Beyond these, in units of 512 and in degrees, a world has left reality.
FAR, TURNED = 12.0, 5.0
#: A block that physics moves or turns by less was not touched.
_STILL, _UNTURNED = 1.0, 1.0
#: Real moments early in an episode at which the same is tried for comparison.
_EARLY = (50, 150, 250)


@dataclass(frozen=True)
class Trial:
    """A moment of N episodes, with what is needed to go on from it."""

    step: int
    agents: np.ndarray
    agents_before: np.ndarray
    poses: np.ndarray
    snapshot: Snapshot


@dataclass(frozen=True)
class Verdicts:
    """What physics made of N episodes within a trial.

    Args:
        step: when it began.
        start, true, shown: (N, 4) poses of the block when it began, and in the end by physics and by the world.
        trust: (steps, N) what the world said of itself on the way.
    """

    step: int
    start: np.ndarray
    true: np.ndarray
    shown: np.ndarray
    trust: np.ndarray

    @property
    def units(self) -> np.ndarray:
        """(N,) how far off the block is in the end."""
        return distance_between(self.true, self.shown)

    @property
    def units_if_still(self) -> np.ndarray:
        """(N,) how far off a block that nothing moves would be."""
        return distance_between(self.true, self.start)

    @property
    def degrees(self) -> np.ndarray:
        """(N,) how far the block is turned in the end from where it should be."""
        return angle_between(self.true, self.shown)

    @property
    def on_board(self) -> np.ndarray:
        """(N,) whether the block's origin was on the board when the trial began."""
        return within(self.start, BOUNDS)

    @property
    def touched(self) -> np.ndarray:
        """(N,) whether physics moved or turned it."""
        touched: np.ndarray = (self.units_if_still > _STILL) | (angle_between(self.true, self.start) > _UNTURNED)
        return touched

    @property
    def diverged(self) -> np.ndarray:
        """(N,) whether the world has left reality."""
        diverged: np.ndarray = (self.units > FAR) | (self.degrees > TURNED)
        return diverged


def begin_trial(rollout: Rollout, world: LearnedWorld) -> Trial:
    """Remember this moment; the caller makes 32 more steps, as it likes."""
    return Trial(
        len(rollout.commands), rollout.agents, rollout.agents_before, rollout.poses, rollout.snapshot(world)
    )  # fmt: skip


def end_trial(trial: Trial, rollout: Rollout, world: LearnedWorld) -> Verdicts:
    """Let physics go through the same commands, and ask the world how far it trusted itself."""
    commands = rollout.commands[trial.step :]
    speeds = speed_now(trial.agents_before, trial.agents, rollout.commands[trial.step - 1])
    physics, true = Physics(16), []
    for slot, (agent, pose, speed) in enumerate(zip(trial.agents, trial.poses, speeds, strict=True)):
        physics.place(agent, pose, speed)
        for command in commands:
            physics.step(command[slot])
        true.append(physics.pose)
    return Verdicts(trial.step, trial.poses, np.array(true), rollout.poses, _trust(world, trial.snapshot, commands))


def _trust(world: LearnedWorld, snapshot: Snapshot, commands: Sequence[np.ndarray]) -> np.ndarray:
    world.restore(snapshot)
    return np.stack([world.step(command)[-1]["trust"] for command in commands])


def try_early_real_moments(world: Path, num_seeds: int) -> list[Verdicts]:
    """Trials that begin where reality is, early in episodes of random play: as right as a world can be."""
    torch.set_num_threads(1)
    checkpoint, learned = from_pretrained(world), LearnedWorld(str(world), num_seeds)
    learned.reset(seed=0)
    driver, starts = Random(checkpoint.model.spec), draw_starts(checkpoint, num_seeds, seed=3)
    rollout = Rollout(checkpoint.model, driver, starts)
    real = RealRollout(driver, starts)
    return [_try_real_moment(rollout, real, learned, step) for step in _EARLY]


def _try_real_moment(rollout: Rollout, real: RealRollout, world: LearnedWorld, step: int) -> Verdicts:
    agents, poses = [], []
    while len(real.commands) < step:
        real.step()
        agents.append(real.agents)
        poses.append(real.poses)
    history = rollout.model.config.history
    rollout.put(np.stack(agents[-history:], 1), np.stack(poses[-history:], 1))
    rollout.commands = list(real.commands)
    trial = begin_trial(rollout, world)
    for _ in range(STEPS):
        rollout.step()
    for command in rollout.commands[step:]:
        real.obey(command)
    return end_trial(trial, rollout, world)


def auroc(score: np.ndarray, positive: np.ndarray) -> float:
    """How often a positive has the higher score than a negative, ties counted half; nan where one kind is missing.

    Args:
        score: (N,) numbers.
        positive: (N,) bool.
    """
    if positive.all() or not positive.any():
        return float("nan")
    ordered, where = np.unique(score, return_inverse=True)
    counts = np.bincount(where, minlength=len(ordered))
    rank = (np.cumsum(counts) - (counts - 1) / 2)[where]
    num_positive = int(positive.sum())
    wins = rank[positive].sum() - num_positive * (num_positive + 1) / 2
    return float(wins / (num_positive * (len(score) - num_positive)))
