"""Worlds, streams and the rollout loop that turns them into episodes; Ray hosts them in `generators.fleet`."""

from .plan import RolloutPlan
from .rollout import rollout
from .seeds import episode_id, episode_seed
from .stream import ActionStream, Correcting, Intervening, Observation, Watching
from .world import World

__all__ = [
    "ActionStream",
    "Correcting",
    "Intervening",
    "Observation",
    "RolloutPlan",
    "Watching",
    "World",
    "episode_id",
    "episode_seed",
    "rollout",
]
