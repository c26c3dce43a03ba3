"""The fleet: Ray actors that host worlds and make episodes into a store, whatever dies meanwhile."""

from .config import FleetConfig
from .losses import lost_and_redone
from .running import run_episodes, run_until
from .session import ray_session
from .stop_rules import Attempts, StopRules

__all__ = ["Attempts", "FleetConfig", "StopRules", "lost_and_redone", "ray_session", "run_episodes", "run_until"]
