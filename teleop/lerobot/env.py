"""A world as one Gymnasium environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from .observations import as_environment, as_info, environment_space, slot_of
from .worlds import open_world


class WorldEnv(gym.Env[dict[str, Any], np.ndarray]):
    """One episode of a world, learned or real; `gymnasium.make("demoloom/World-v0", world="pusht")`.

    Observations are `pixels` (camera -> (H, W, 3) uint8 RGB) and `agent_pos` (S,) float32. An action is (A,) float32 in
    the robot's units and is clipped to its bounds. `info` holds `is_success`, `success`, `score` and `trust`; the
    reward is the world's, and success ends an episode.

    Args:
        world: folder of a world checkpoint, the name of one that comes with demoloom, or `reality:TASK`.
        task: text of the task, for a checkpoint with several.
        device: where a learned world predicts.
        render_mode: `rgb_array` or None; what is rendered is the first camera's frame either way.

    Raises:
        CheckpointError, PluginError: there is no such world or task.
    """

    def __init__(
        self, world: str = "pusht", task: str | None = None, device: str = "cpu", render_mode: str | None = None
    ) -> None:
        self._world = open_world(world, 1, task, device)
        spec = self._world.episode_spec
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": spec.fps}
        self.render_mode = render_mode
        self.observation_space = environment_space(spec)
        self.action_space = self._world.single_action_space
        self.task = self.task_description = self._world.task
        self._frame = np.zeros((spec.cameras[0].height, spec.cameras[0].width, 3), np.uint8)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode: that of `seed`, or else the next of those that the last seed began."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**31)) if seed is None else seed
        observation, info = self._world.reset(seed=[drawn])
        return self._shown(observation), self._known(info)

    def step(self, action: np.ndarray) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Advance by 1 / fps seconds."""
        observation, reward, terminated, _, info = self._world.step(np.asarray(action, np.float32)[None])
        return self._shown(observation), float(reward[0]), bool(terminated[0]), False, self._known(info)

    def render(self) -> np.ndarray:
        """The first camera's last frame, (H, W, 3) uint8 RGB."""
        return self._frame

    def close(self) -> None:
        """Close the world."""
        self._world.close()

    def _shown(self, observation: dict[str, np.ndarray]) -> dict[str, Any]:
        shown = as_environment(slot_of(observation, 0))
        self._frame = next(iter(shown["pixels"].values()))
        return shown

    def _known(self, info: dict[str, Any]) -> dict[str, Any]:
        return {name: values[0].item() for name, values in as_info(info).items()}
