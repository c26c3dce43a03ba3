"""`--env.type=demoloom_world`: a world in which `lerobot-eval` scores a policy, and `lerobot-train` as it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gymnasium.vector import VectorEnv
from lerobot.configs import FeatureType, PolicyFeature
from lerobot.envs.configs import EnvConfig

from . import MAX_EPISODE_STEPS, WORLD_ID
from .observations import IMAGES
from .worlds import world_spec


@EnvConfig.register_subclass("demoloom_world")
@dataclass
class DemoloomWorldEnv(EnvConfig):
    """A world as LeRobot's environment; rate and features are the world's own.

    Args:
        world: folder of a world checkpoint, the name of one that comes with demoloom, or `reality:TASK`.
        task: text of the task, for a checkpoint with several.
        device: where a learned world predicts.
        episode_length: steps after which an episode has failed.
    """

    world: str = "pusht"
    task: str | None = None
    device: str = "cpu"
    episode_length: int = MAX_EPISODE_STEPS

    def __post_init__(self) -> None:
        spec = world_spec(self.world)
        self.fps = spec.fps
        self.features = {
            "action": PolicyFeature(FeatureType.ACTION, (spec.action.size,)),
            "agent_pos": PolicyFeature(FeatureType.STATE, (spec.state.size,)),
        }
        self.features_map = {"action": "action", "agent_pos": "observation.state"}
        for camera in spec.cameras:
            # By the policy's name, as LeRobot cannot record a feature with a slash in its name (`pixels/top`).
            key = f"{IMAGES}{camera.name}"
            self.features[key] = PolicyFeature(FeatureType.VISUAL, (camera.height, camera.width, 3))
            self.features_map[key] = key

    @property
    def package_name(self) -> str:
        """What registers the environment with Gymnasium."""
        return str(__package__)

    @property
    def gym_id(self) -> str:
        """The environment's id in Gymnasium."""
        return WORLD_ID

    @property
    def gym_kwargs(self) -> dict[str, Any]:
        """What the environment is made with."""
        return {
            "world": self.world,
            "task": self.task,
            "device": self.device,
            "max_episode_steps": self.episode_length,
            "render_mode": "rgb_array",
        }

    def create_envs(self, n_envs: int, use_async_envs: bool = False) -> dict[str, dict[int, VectorEnv[Any, Any, Any]]]:
        """One world of `n_envs` slots; `use_async_envs` has no effect, as a batch is predicted in one go anyway."""
        from .vector_env import WorldVectorEnv

        return {self.type: {0: WorldVectorEnv(n_envs, **self.gym_kwargs)}}
