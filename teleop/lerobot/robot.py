"""A world as a robot of LeRobot's: what it shows is a frame of the world, what it is sent is a step of it."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np
from lerobot.datasets import LeRobotDataset
from lerobot.robots.robot import Robot
from lerobot.utils.errors import DeviceAlreadyConnectedError, DeviceNotConnectedError

from ...generators.seeds import episode_seed
from ...generators.world import World, action_bounds
from ...storage.errors import SpecMismatch
from .config_robot import DemoloomWorldConfig
from .names import joint_names
from .observations import IMAGES
from .recording_watch import watch_recording
from .worlds import open_world, world_spec

logger = logging.getLogger(__name__)


class DemoloomWorld(Robot):
    """A world, learned or real, that `lerobot-record`, `lerobot-rollout` and `lerobot-teleoperate` drive.

    Every action sent is one step of the world and nothing else moves it: however late a loop is, row t + 1 of a
    recording shows what the action of row t did. A new episode starts when LeRobot has saved one; one that is recorded
    again starts as before. Joints are named as LeRobot wants them (`target_x.pos`), cameras as in the world.
    """

    config_class = DemoloomWorldConfig
    name = "demoloom_world"
    _all: ClassVar[WeakSet[DemoloomWorld]] = WeakSet()

    def __init__(self, config: DemoloomWorldConfig) -> None:
        super().__init__(config)
        self.config = config
        self.spec = world_spec(config.world)
        #: By name; LeRobot counts them to start as many threads that write frames.
        self.cameras = {camera.name: camera for camera in self.spec.cameras}
        self._state_names, self._action_names = joint_names(self.spec.state.names), joint_names(self.spec.action.names)
        self._world: World | None = None
        self._episode, self._num_starts = 0, 0
        self._observation: dict[str, np.ndarray] | None = None
        self._solved = False
        self._open = ExitStack()
        self._all.add(self)

    @classmethod
    def connected(cls) -> list[DemoloomWorld]:
        """Those of this process that are connected."""
        return [robot for robot in cls._all if robot.is_connected]

    @property
    def observation_features(self) -> dict[str, Any]:
        """`<state>.pos` -> float, and camera -> (H, W, 3)."""
        frames = {camera.name: (camera.height, camera.width, 3) for camera in self.spec.cameras}
        return {**dict.fromkeys(self._state_names, float), **frames}

    @property
    def action_features(self) -> dict[str, type]:
        """`<action>.pos` -> float."""
        return dict.fromkeys(self._action_names, float)

    @property
    def is_connected(self) -> bool:
        """Whether the world is loaded."""
        return self._world is not None

    @property
    def is_calibrated(self) -> bool:
        """Always: a world has no motors."""
        return True

    def calibrate(self) -> None:
        """Nothing to do."""

    def configure(self) -> None:
        """Nothing to do."""

    def connect(self, calibrate: bool = True) -> None:
        """Load the world; the first episode starts when it is first looked at."""
        if self.is_connected:
            raise DeviceAlreadyConnectedError(f"{self} is already connected")
        self._world = open_world(self.config.world, 1, self.config.task, self.config.device)
        self._open.enter_context(watch_recording(self._check_rate, self._begin_next, self._begin_again))
        logger.info("%s shows %s", self, self._world.task)

    def disconnect(self) -> None:
        """Let go of the world."""
        self._loaded().close()
        self._open.close()
        self._world = self._observation = None

    def get_observation(self) -> dict[str, Any]:
        """What the world shows now; asking does not move it."""
        shown, _, _ = self.look()
        state = dict(zip(self._state_names, map(float, shown["observation.state"][0]), strict=True))
        return {**state, **{name: shown[f"{IMAGES}{name}"][0] for name in self.cameras}}

    def look(self) -> tuple[dict[str, np.ndarray], int, int]:
        """What the world shows now, as the one slot of a world, how often it has started, and the episode's seed."""
        shown = self._observation if self._observation is not None else self._begin()
        return shown, self._num_starts, self._seed

    def send_action(self, action: dict[str, Any]) -> dict[str, Any]:
        """Step the world, and return the action within the bounds.

        Raises:
            SpecMismatch: a joint is missing.
        """
        world = self._loaded()
        if missing := [name for name in self._action_names if name not in action]:
            raise SpecMismatch(
                f"this world is sent {', '.join(self._action_names)}, got {', '.join(action) or 'nothing'}: "
                f"{', '.join(missing)} missing; use a teleoperator or policy with these joints"
            )
        self.look()  # begins where nobody has looked yet
        given = np.array([[action[name] for name in self._action_names]], np.float32)
        self._observation, _, success, _, info = world.step(given)
        if success[0] and not self._solved:
            logger.info("solved, score %.2f, trust %.2f", info["score"][0], info["trust"][0])
        self._solved = bool(success[0])
        sent = np.clip(given[0], *action_bounds(self.spec))
        return dict(zip(self._action_names, map(float, sent), strict=True))

    @property
    def _seed(self) -> int:
        return episode_seed(self.config.seed, self._episode)

    def _loaded(self) -> World:
        if self._world is None:
            raise DeviceNotConnectedError(f"{self} is not connected; call connect() first")
        return self._world

    def _begin(self) -> dict[str, np.ndarray]:
        self._observation, _ = self._loaded().reset(seed=[self._seed])
        self._num_starts, self._solved = self._num_starts + 1, False
        return self._observation

    def _begin_next(self, dataset: LeRobotDataset) -> None:
        if self.config.restarts:
            self._episode += 1
            self._observation = None

    def _begin_again(self, dataset: LeRobotDataset) -> None:
        if self.config.restarts:
            self._observation = None

    def _check_rate(self, dataset: LeRobotDataset) -> None:
        if dataset.fps != self.spec.fps:
            raise SpecMismatch(
                f"this world makes {self.spec.fps} steps a second and the dataset would be stamped at {dataset.fps}; "
                f"give --dataset.fps={self.spec.fps} (and --fps={self.spec.fps} to lerobot-rollout)"
            )
