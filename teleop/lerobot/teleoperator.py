"""One of demoloom's streams as a teleoperator of LeRobot's."""

from __future__ import annotations

from typing import Any

import numpy as np
from lerobot.teleoperators.teleoperator import Teleoperator
from lerobot.utils.errors import DeviceAlreadyConnectedError, DeviceNotConnectedError

from ...generators.stream import ActionStream
from ...storage.errors import ConfigError
from ...storage.plugins import PluginRef
from .config_teleoperator import DemoloomStreamConfig
from .names import joint_names
from .robot import DemoloomWorld


class DemoloomStream(Teleoperator):
    """Drives the `demoloom_world` that this process has connected, by what that shows.

    LeRobot asks a teleoperator for actions without telling it what there is to see: a person looks. A stream looks at
    the world itself, which lives in the same process, and starts anew when the world does.
    """

    config_class = DemoloomStreamConfig
    name = "demoloom_stream"

    def __init__(self, config: DemoloomStreamConfig) -> None:
        super().__init__(config)
        self.config = config
        self._ref = PluginRef("streams", config.stream, config.settings)
        self._connected = False
        self._stream: ActionStream | None = None
        self._start: int | None = None

    @property
    def action_features(self) -> dict[str, type]:
        """`<action>.pos` -> float, of the world that is connected; empty before."""
        worlds = DemoloomWorld.connected()
        return dict(worlds[0].action_features) if worlds else {}

    @property
    def feedback_features(self) -> dict[str, type]:
        """None: a stream feels nothing."""
        return {}

    @property
    def is_connected(self) -> bool:
        """Whether `connect` was called."""
        return self._connected

    @property
    def is_calibrated(self) -> bool:
        """Always."""
        return True

    def calibrate(self) -> None:
        """Nothing to do."""

    def configure(self) -> None:
        """Nothing to do."""

    def connect(self, calibrate: bool = True) -> None:
        """Get ready; the stream is made when it is first asked, as the world may not be there yet."""
        if self._connected:
            raise DeviceAlreadyConnectedError(f"{self} is already connected")
        self._connected = True

    def get_action(self) -> dict[str, float]:
        """What the stream does on seeing what the world shows now.

        Raises:
            ConfigError: no world is connected, or more than one.
            Whatever the stream raises, such as SpecMismatch.
        """
        if not self._connected:
            raise DeviceNotConnectedError(f"{self} is not connected; call connect() first")
        robot = self._driven()
        observation, start, seed = robot.look()
        if self._stream is None:
            self._stream = self._ref.build(spec=robot.spec)
        if start != self._start:
            self._stream.reset([seed], np.ones(1, bool))
            self._start = start
        action = self._stream.act(observation)[0]
        return dict(zip(joint_names(robot.spec.action.names), map(float, action), strict=True))

    def send_feedback(self, feedback: dict[str, Any]) -> None:
        """Nothing to do."""

    def disconnect(self) -> None:
        """Let go of the stream, and of the device that it may read."""
        if self._stream is not None and hasattr(self._stream, "close"):
            self._stream.close()
        self._stream, self._start, self._connected = None, None, False

    def _driven(self) -> DemoloomWorld:
        worlds = DemoloomWorld.connected()
        if len(worlds) != 1:
            raise ConfigError(
                f"a demoloom_stream drives one robot of type demoloom_world, and {len(worlds)} are connected; "
                "give --robot.type=demoloom_world"
            )
        return worlds[0]
