"""PushT by gym-pusht as reality: push the T onto its target (Chi et al. 2023, Diffusion Policy)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import cv2
import numpy as np

from ...storage.errors import ConfigError
from ...storage.spec import Camera, EpisodeSpec, Vector
from ..world import World, as_seeds, bounded_actions, reset_mask

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
with warnings.catch_warnings():
    # pygame reads its data files through pkg_resources, which announces its own end; nothing is lost.
    warnings.filterwarnings("ignore", "pkg_resources is deprecated")
    warnings.filterwarnings("ignore", "Deprecated call to `pkg_resources")
    from gym_pusht.envs.pusht import PushTEnv

TASK = "Push the T-shaped block onto the T-shaped target."
BOARD = 512  # side of the board in gym-pusht's units, and of the surface it draws on


def pusht_spec(size: int = 64) -> EpisodeSpec:
    """PushT with a camera of size x size pixels; positions are in gym-pusht's units, 0..512 from the top left."""
    corner = (float(BOARD),) * 2
    return EpisodeSpec(
        fps=PushTEnv.metadata["render_fps"],
        cameras=(Camera("top", size, size),),
        state=Vector(("agent_x", "agent_y"), (0.0, 0.0), corner),
        action=Vector(("target_x", "target_y"), (0.0, 0.0), corner),
        labels={"block_pose": Vector(("x", "y", "cos", "sin"), (0.0, 0.0, -1.0, -1.0), (*corner, 1.0, 1.0))},
        robot_type="pusht",
    )


class PushTReality(World):
    """gym-pusht, N times; the score is the covered part of the target, success is more than 95 % of it.

    The frames are byte-equal to those of `gym.make("gym_pusht/PushT-v0", obs_type="pixels_agent_pos",
    observation_width=size, observation_height=size)`.

    Args:
        num_envs: how many episodes are stepped together.
        size: height and width of the frames in pixels.

    Raises:
        ConfigError: no slots are asked for, or the frames would be smaller than 16 or larger than the board.
    """

    def __init__(self, num_envs: int, size: int = 64) -> None:
        if num_envs < 1:
            raise ConfigError(f"PushT needs at least one slot, got num_envs={num_envs}")
        if not 16 <= size <= BOARD:
            raise ConfigError(f"PushT draws frames of 16 to {BOARD} pixels, got size={size}")
        super().__init__(pusht_spec(size), num_envs, TASK)
        self._envs = [_QuickPushT(size) for _ in range(num_envs)]
        self._moments: list[_Moment] = []

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """See World.reset; physics cannot start from pixels, so a `start` must hold the labels of its observation.

        Args:
            seed: see World.reset.
            options: `start` needs `observation.state` (N, 2) and `labels`, a dict of `block_pose` (N, 4); all starts
                at rest.

        Raises:
            ValueError: a given start has no labels.
        """
        mask = reset_mask(options, self.num_envs, first=not self._moments)
        start = _placements((options or {}).get("start"))
        seeds = as_seeds(seed, self.num_envs)
        self._moments = [
            env.start(seeds[slot], None if start is None else start[slot]) if mask[slot] else self._moments[slot]
            for slot, env in enumerate(self._envs)
        ]
        return self._observation(), self._info()

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """See World.step; the reward is gym-pusht's, coverage / 0.95 up to 1."""
        bounded = bounded_actions(actions, self.episode_spec, self.num_envs)
        self._moments = [env.advance(action) for env, action in zip(self._envs, bounded, strict=True)]
        reward = np.array([moment.reward for moment in self._moments], np.float32)
        info = self._info()
        return self._observation(), reward, info["success"].copy(), np.zeros(self.num_envs, bool), info

    def identity(self) -> dict[str, Any]:
        """The simulator's versions and the size of the frames."""
        size = self.episode_spec.cameras[0].height
        return {"name": "pusht", "gym-pusht": version("gym-pusht"), "pymunk": version("pymunk"), "size": size}

    def _observation(self) -> dict[str, np.ndarray]:
        return {
            "observation.images.top": np.stack([moment.image for moment in self._moments]),
            "observation.state": np.array([moment.agent for moment in self._moments], np.float32),
        }

    def _info(self) -> dict[str, Any]:
        return {
            "success": np.array([moment.success for moment in self._moments], bool),
            "score": np.array([moment.coverage for moment in self._moments], np.float32),
            "trust": np.ones(self.num_envs, np.float32),
            "labels": {"block_pose": np.array([moment.block for moment in self._moments], np.float32)},
        }


def _placements(start: Mapping[str, Any] | None) -> np.ndarray | None:
    """(N, 6): where the agent and the block of a given start are, as x, y, x, y, cosine, sine."""
    if start is None:
        return None
    if "labels" not in start:
        raise ValueError("PushT cannot start from a given observation without its labels; give them with it, or a seed")
    return np.hstack([start["observation.state"], start["labels"]["block_pose"]]).astype(np.float64)


@dataclass(frozen=True)
class _Moment:
    """What one slot looks like now."""

    image: np.ndarray
    agent: np.ndarray
    block: tuple[float, float, float, float]
    coverage: float
    success: bool
    reward: float


class _QuickPushT(PushTEnv):
    """One gym-pusht environment, twice as fast at the same bytes."""

    def __init__(self, size: int) -> None:
        super().__init__(obs_type="pixels_agent_pos", observation_width=size, observation_height=size)

    def start(self, seed: int | None, placement: np.ndarray | None) -> _Moment:
        observation, _ = self.reset(seed=seed)
        if placement is not None:
            self._place(*np.split(placement, [2, 4]))
            observation = self.get_obs()
        return self._moment(observation, coverage=self._get_coverage(), reward=0.0)

    def _place(self, agent: np.ndarray, block: np.ndarray, direction: np.ndarray) -> None:
        """Put things where they are to start; the angle first, as setting it moves the position."""
        self.agent.position = tuple(map(float, agent))
        self.block.angle = float(np.arctan2(direction[1], direction[0]))
        self.block.position = tuple(map(float, block))
        for body in (self.agent, self.block):
            body.velocity, body.angular_velocity = (0.0, 0.0), 0.0
            self.space.reindex_shapes_for_body(body)

    def advance(self, action: np.ndarray) -> _Moment:
        observation, reward, _, _, info = self.step(action)
        return self._moment(observation, info["coverage"], reward)

    def _moment(self, observation: Mapping[str, np.ndarray], coverage: float, reward: float) -> _Moment:
        (x, y), angle = self.block.position, self.block.angle
        return _Moment(
            image=observation["pixels"],
            agent=observation["agent_pos"],
            block=(x, y, float(np.cos(angle)), float(np.sin(angle))),
            coverage=min(coverage, 1.0),
            success=bool(coverage > self.success_threshold),
            reward=float(reward),
        )

    def _get_img(self, screen: Any, width: int, height: int, render_action: bool = False) -> np.ndarray:
        # gym-pusht copies a transposed, channel-reversed view of the whole surface first: 70 % of its step.
        bgra = np.frombuffer(screen.get_buffer(), np.uint8).reshape(BOARD, BOARD, 4)
        return cv2.resize(bgra, (width, height))[..., 2::-1]
