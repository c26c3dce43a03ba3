"""Worlds, streams and the rollout loop that turns them into episodes; Ray hosts them in `generators.fleet`."""

from .plan import RolloutPlan
from .rollout import rollout
from .seeds import episode_id, episode_seed
from .stream import ActionStream, Intervening, Observation
from .world import World

__all__ = [
    "ActionStream",
    "Intervening",
    "Observation",
    "RolloutPlan",
    "World",
    "episode_id",
    "episode_seed",
    "rollout",
]
