"""What LeRobot expects of an environment: its names for observations and for what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from ...generators.world import observation_space
from ...storage.spec import EpisodeSpec

IMAGES = "observation.images."


def as_environment(observation: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """A world's observation as `pixels` (camera -> frames) and `agent_pos`, what LeRobot's environments call them."""
    pixels = {name.removeprefix(IMAGES): frames for name, frames in observation.items() if name.startswith(IMAGES)}
    return {"pixels": pixels, "agent_pos": observation["observation.state"]}


def environment_space(spec: EpisodeSpec) -> gym.spaces.Dict:
    """The space of one slot's `as_environment`."""
    own = observation_space(spec)
    pixels = {camera.name: own[f"{IMAGES}{camera.name}"] for camera in spec.cameras}
    return gym.spaces.Dict({"pixels": gym.spaces.Dict(pixels), "agent_pos": own["observation.state"]})


def slot_of(observation: Mapping[str, np.ndarray], slot: int) -> dict[str, np.ndarray]:
    """One slot's part of a world's observation."""
    return {name: values[slot] for name, values in observation.items()}


def as_info(info: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Success, score and trust of each slot, and success once more by LeRobot's name `is_success`."""
    return {"is_success": info["success"], **{name: info[name] for name in ("success", "score", "trust")}}
