from pathlib import Path
from typing import Any

import pytest

from demoloom.generators.testing import CountingWorld
from demoloom.storage import PluginRef
from demoloom.teleop.axis_map import AxisMap, Binding
from demoloom.teleop.controls import Controls
from demoloom.teleop.driving import Drive, DriveSettings, KeptTakes, no_starts, take_spec
from demoloom.teleop.shaping import Shaping
from demoloom.teleop.task import Task
from demoloom.teleop.web.hands import Hands
from demoloom.teleop.web.opening import TeleopPlan
from demoloom.teleop.web.session import Session, Tempo

#: Full deflection to the right adds 1 at every step.
RIGHT_ADDS = AxisMap({"x": Binding("add", mode="rate")}, pointer=None)
PLAIN = Shaping(dead_zone=0.0, curve=0.0, smoothing_s=0.0)


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Onlooker:
    """An audience that remembers all it was shown and told."""

    def __init__(self) -> None:
        self.frames: list[tuple[int, bytes]] = []
        self.states: list[dict[str, Any]] = []
        self.ended: str | None = None

    def show(self, tick: int, frame: bytes) -> None:
        self.frames.append((tick, frame))

    def tell(self, state: dict[str, Any]) -> None:
        self.states.append(state)

    def end(self, reason: str) -> None:
        self.ended = reason


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def onlooker() -> Onlooker:
    return Onlooker()


@pytest.fixture
def takes(tmp_path: Path) -> KeptTakes:
    return KeptTakes(tmp_path / "takes", take_spec(CountingWorld(1)))


@pytest.fixture
def make_session(takes: KeptTakes, clock: Clock, onlooker: Onlooker):
    """Makes a session of a counting world at 10 steps a second."""

    def make(
        world=None, tempo: Tempo | None = None, axis_map: AxisMap = RIGHT_ADDS, device=None, **settings
    ) -> Session:
        world = world or CountingWorld(1)
        drive = Drive(world, takes, no_starts(), DriveSettings(**settings))
        drive.start(seed=0)
        controls = Controls(world.episode_spec, axis_map, PLAIN)
        return Session(drive, Hands(controls, device=device), tempo or Tempo(10), onlooker, clock=clock)

    return make


COUNTING = "demoloom.generators.testing:CountingWorld"


@pytest.fixture
def make_plan(tmp_path: Path):
    """Makes plans of a server for a world that counts, with another such world for its reality."""

    def make(**changes) -> TeleopPlan:
        nothing = PluginRef("streams", "idle")
        reality = PluginRef("worlds", COUNTING, {"goal": 9})
        task = Task("count", "Count.", reality, 10, lambda probe: nothing, lambda probe: nothing)
        world = PluginRef("worlds", COUNTING)
        return TeleopPlan(**{"world": world, "task": task, "out": tmp_path / "takes", "fps": 100.0, **changes})

    return make
