from pathlib import Path

import pytest

from demoloom.generators import RolloutPlan
from demoloom.generators.fleet import FleetConfig, ray_session
from demoloom.storage.plugins import PluginRef

TESTING = "demoloom.generators.testing:"


@pytest.fixture(scope="session")
def toy_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained world of the moving square, with labels; to be read only."""
    from .moving_square import train_toy_world

    return train_toy_world(tmp_path_factory.mktemp("toy"))


@pytest.fixture(scope="session")
def ray_open():
    """One Ray for all tests that need it; sessions opened within it are the same one."""
    with ray_session(FleetConfig(num_workers=2)):
        yield


@pytest.fixture
def counting_plan():
    """Makes plans for CountingWorld or, with a fault, for FaultyWorld; two slots, twelve steps."""

    def make(goal=8, low=0.0, high=1.0, fault=None, **changes):
        world = PluginRef("worlds", TESTING + "CountingWorld", {"goal": goal})
        if fault:
            world = PluginRef("worlds", TESTING + "FaultyWorld", {"goal": goal, **fault})
        stream = PluginRef("streams", TESTING + "RandomCounts", {"low": low, "high": high})
        settings = {"stage": "test", "world": world, "stream": stream, "run_seed": 7, "max_steps": 12, "num_slots": 2}
        return RolloutPlan(**{**settings, **changes})

    return make
