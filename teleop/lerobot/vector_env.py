"""A world as a Gymnasium vector environment, with what LeRobot asks of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ...generators.world import reset_mask
from . import MAX_EPISODE_STEPS
from .observations import as_environment, as_info, environment_space
from .worlds import open_world


class WorldVectorEnv(VectorEnv[dict[str, Any], np.ndarray, np.ndarray]):
    """N episodes of a world, predicted together: faster than N environments of one.

    `gymnasium.make_vec("demoloom/World-v0", num_envs=4, world="pusht")`. Observations and `info` are those of
    `WorldEnv` with N rows. Nothing resets itself: an episode that has ended stays ended and gets no more reward until
    `reset(options={"reset_mask": ...})` starts the slot anew.

    Args:
        num_envs: N.
        world: folder of a world checkpoint, the name of one that comes with demoloom, or `reality:TASK`.
        task: text of the task, for a checkpoint with several.
        device: where a learned world predicts.
        max_episode_steps: an episode is cut off after so many.
        render_mode: `rgb_array` or None; what is rendered is the first camera's frames either way.

    Raises:
        CheckpointError, PluginError: there is no such world or task.
    """

    def __init__(
        self,
        num_envs: int = 1,
        world: str = "pusht",
        task: str | None = None,
        device: str = "cpu",
        max_episode_steps: int = MAX_EPISODE_STEPS,
        render_mode: str | None = None,
    ) -> None:
        self._world = open_world(world, num_envs, task, device)
        spec = self._world.episode_spec
        self.num_envs = num_envs
        self.metadata = {
            "render_modes": ["rgb_array"],
            "render_fps": spec.fps,
            "autoreset_mode": AutoresetMode.DISABLED,
        }
        self.render_mode = render_mode
        self.single_observation_space = environment_space(spec)
        self.single_action_space = self._world.single_action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = self._world.action_space
        self.task = self.task_description = self._world.task
        self._max_episode_steps = max_episode_steps
        self._steps = np.zeros(num_envs, int)
        self._terminated, self._truncated = np.zeros(num_envs, bool), np.zeros(num_envs, bool)
        self._frames: tuple[np.ndarray, ...] = ()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start episodes in all slots, or in those of `options["reset_mask"]` (N,) bool.

        Without seeds they are drawn: the next of those that the last int began, as in Gymnasium.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        mask = reset_mask(options, self.num_envs, first=not self._frames)
        drawn = self.np_random.integers(2**31, size=self.num_envs).tolist() if seed is None else seed
        observation, info = self._world.reset(seed=drawn, options={"reset_mask": mask})
        for of_episode in (self._steps, self._terminated, self._truncated):
            of_episode[mask] = 0
        return self._shown(observation), as_info(info)

    def step(self, actions: np.ndarray) -> tuple[dict[str, Any], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all slots by 1 / fps seconds."""
        observation, reward, success, _, info = self._world.step(actions)
        goes_on = ~(self._terminated | self._truncated)
        self._steps += 1
        self._terminated |= goes_on & success
        self._truncated |= goes_on & ~success & (self._steps >= self._max_episode_steps)
        reward = np.where(goes_on, reward, np.float32(0))
        return self._shown(observation), reward, self._terminated.copy(), self._truncated.copy(), as_info(info)

    def render(self) -> tuple[np.ndarray, ...]:
        """The first camera's last frame of each slot, (H, W, 3) uint8 RGB."""
        return self._frames

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What each slot's environment answers, as in Gymnasium's own vector environments: LeRobot asks so."""
        return self.render() if name == "render" else self.get_attr(name)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each slot's environment; they do not differ."""
        return (getattr(self, name),) * self.num_envs

    def close_extras(self, **kwargs: Any) -> None:
        """Close the world."""
        self._world.close()

    def _shown(self, observation: dict[str, np.ndarray]) -> dict[str, Any]:
        shown = as_environment(observation)
        self._frames = tuple(next(iter(shown["pixels"].values())))
        return shown
