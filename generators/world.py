"""The contract of everything that can be driven: reality and learned worlds alike."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ..storage.spec import EpisodeSpec


class World(VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """N episodes of one robot, stepped together.

    Observations are a dict: `observation.images.<camera>` (N, H, W, 3) uint8 RGB and `observation.state` (N, S)
    float32, both copies which the caller may keep. Actions are (N, A) float32 in the units of the spec; a world
    clips them to the spec's bounds. `info` holds, after reset and after step, `success` (N,) bool, `score` (N,)
    float32 in [0, 1], `trust` (N,) float32 in [0, 1] (1 in reality) and, where reality knows them, `labels`
    (name -> (N, L) float32), all of the observation returned with it. After a reset it may hold `start` (name -> (N,)):
    what else is known of where the slots that were reset start, such as a pose read from the frame.

    Nothing resets itself (`AutoresetMode.DISABLED`): stepping on after `terminated` is allowed and goes on.
    A slot's future depends on its own seed, start and actions, never on its neighbours.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.DISABLED}  # noqa: RUF012 - each world replaces it

    def __init__(self, episode_spec: EpisodeSpec, num_envs: int, task: str) -> None:
        # Who drove is for the one that drives to say, whatever the data that the world was learnt from said.
        self.episode_spec = replace(episode_spec, intervention=False)
        self.num_envs = num_envs
        self.task = task
        self.metadata = {**self.metadata, "render_fps": episode_spec.fps}
        self.single_observation_space = observation_space(episode_spec)
        self.single_action_space = action_space(episode_spec)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @abstractmethod
    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start episodes; the same seed gives the same bytes, whatever was done before.

        Args:
            seed: one seed for each slot, or one int s for s, s + 1, ...
            options: `reset_mask` (N,) bool: only these slots start anew (Gymnasium's name; all by default).
                `start`: an observation dict of N rows to start from instead of drawing one by seed; a world
                that cannot start there raises ValueError.
        """

    @abstractmethod
    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all slots by 1 / fps seconds: the action given here changes the frame returned here.

        Returns (observation, reward (N,) float32, terminated (N,) bool, truncated (N,) bool, info); terminated
        is `info["success"]`, truncated is always false (whoever runs the episode sets its length).
        """

    def snapshot(self) -> Any:
        """All slots' state, to return to with `restore`. Raises NotImplementedError where a world cannot."""
        raise NotImplementedError(f"{type(self).__name__} cannot be taken back to an earlier moment")

    def restore(self, snapshot: Any) -> dict[str, np.ndarray]:
        """Return to a snapshot and give its observation; what follows is as it was from there."""
        raise NotImplementedError(f"{type(self).__name__} cannot be taken back to an earlier moment")

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Plain data that says which world this is, for lineage: name and version, or checkpoint hash."""


def observation_space(spec: EpisodeSpec) -> gym.spaces.Dict:
    """The space of one slot's observation."""
    spaces: dict[str, gym.Space[Any]] = {
        f"observation.images.{camera.name}": gym.spaces.Box(0, 255, (camera.height, camera.width, 3), np.uint8)
        for camera in spec.cameras
    }
    spaces["observation.state"] = gym.spaces.Box(-np.inf, np.inf, (spec.state.size,), np.float32)
    return gym.spaces.Dict(spaces)


def action_space(spec: EpisodeSpec) -> gym.spaces.Box:
    """The space of one slot's action, with the spec's bounds."""
    low, high = action_bounds(spec)
    return gym.spaces.Box(low, high, dtype=np.float32)


def as_seeds(seed: int | Sequence[int | None] | None, num_envs: int) -> list[int | None]:
    """Gymnasium's three ways of giving seeds, as one list."""
    if seed is None:
        return [None] * num_envs
    if isinstance(seed, int | np.integer):
        return [int(seed) + i for i in range(num_envs)]
    if len(seed) != num_envs:
        raise ValueError(f"expected one seed for each of the {num_envs} slots, got {len(seed)}")
    return list(seed)


def reset_mask(options: Mapping[str, Any] | None, num_envs: int, *, first: bool) -> np.ndarray:
    """Which slots start anew, (N,) bool: `options["reset_mask"]`, or all of them.

    Raises:
        ValueError: the mask has another length, or the first reset of a world leaves slots out.
    """
    given = (options or {}).get("reset_mask")
    mask = np.ones(num_envs, bool) if given is None else np.asarray(given, bool)
    if mask.shape != (num_envs,):
        raise ValueError(f"reset_mask needs one entry for each of the {num_envs} slots, got shape {mask.shape}")
    if first and not mask.all():
        raise ValueError(f"the first reset must start all {num_envs} slots, but reset_mask leaves out {(~mask).sum()}")
    return mask


def bounded_actions(actions: np.ndarray, spec: EpisodeSpec, num_envs: int) -> np.ndarray:
    """The actions as (N, A) float32 within the spec's bounds.

    Raises:
        ValueError: another shape, or an entry that is not a number; the message names the slot and the dimension.
    """
    given = np.asarray(actions, np.float32)
    if given.shape != (num_envs, spec.action.size):
        raise ValueError(f"expected actions of shape {(num_envs, spec.action.size)}, got {given.shape}")
    bad = np.argwhere(~np.isfinite(given))
    if len(bad):
        slot, dimension = bad[0]
        raise ValueError(f"action {spec.action.names[dimension]!r} of slot {slot} is {given[slot, dimension]}")
    return np.clip(given, *action_bounds(spec))


def action_bounds(spec: EpisodeSpec) -> tuple[np.ndarray, np.ndarray]:
    """The lowest and the highest action, each (A,) float32."""
    return np.asarray(spec.action.low, np.float32), np.asarray(spec.action.high, np.float32)
