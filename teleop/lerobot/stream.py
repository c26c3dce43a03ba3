"""A LeRobot teleoperator as a stream: `lerobot:so101_leader` drives a world as it would drive the robot."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...generators.stream import Observation
from ...storage.errors import ConfigError, DeviceError
from ...storage.spec import EpisodeSpec
from ..axis_map import AxisMap
from ..shaping import Shaping
from .hand import Movements, Positions, feature_names, is_movement
from .teleoperators import connect_teleoperator, one_line


class TeleoperatorStream:
    """One person's LeRobot teleoperator in one slot; it is connected for as long as the stream lives.

    What gives positions (a leader arm) is matched with the world's action by name, `.pos` and `.vel` aside; what gives
    movements (`delta_x`, …: a gamepad) moves targets as every device does that demoloom reads itself.

    The world goes at its own rate, so that a person can follow it: `act` waits until a step is due and then asks the
    device. What is late is not caught up on in a burst.

    Args:
        teleoperator: LeRobot's type, after the colon of the stream's name.
        spec: of the world to drive.
        joints: dimension of the action -> the teleoperator's name for it, where these differ.
        controls: of a device that gives movements: axis -> dimension, as in `AxisMap.from_dict`.
        shaping: of such a device: fields of `Shaping`.
        paced: whether `act` waits; whoever keeps the world's rate already says no.
        settings: of the teleoperator's LeRobot config, such as `port` and `id`.

    Raises:
        PluginError: LeRobot has no such type.
        ConfigError: a setting cannot be used.
        SpecMismatch: its joints do not fit the world's action.
        DeviceError: it cannot be connected.
    """

    def __init__(
        self,
        teleoperator: str = "",
        *,
        spec: EpisodeSpec,
        joints: Mapping[str, str] | None = None,
        controls: Mapping[str, Any] | None = None,
        shaping: Mapping[str, Any] | None = None,
        paced: bool = True,
        **settings: Any,
    ) -> None:
        if not teleoperator:
            raise ConfigError("name the teleoperator after a colon, as in lerobot:so101_leader")
        self._name, self._settings = teleoperator, settings
        self._is_lost = False
        self._device = connect_teleoperator(teleoperator, settings)
        try:
            names = feature_names(self._device.action_features)
            self._hand = _hand(spec, names, joints or {}, controls, shaping or {})
        except Exception:
            self._device.disconnect()
            raise
        self._begins = self._finished = False
        self._takes_over = not hasattr(self._device, "get_teleop_events")
        self._period_s, self._due_s = 1 / spec.fps if paced else 0.0, 0.0

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """See ActionStream.reset.

        Raises:
            ConfigError: there is more than one slot, and one person.
        """
        if len(mask) != 1:
            raise ConfigError(f"a person drives one world at a time, got {len(mask)} slots; set num_slots to 1")
        if mask[0]:
            self._begins, self._finished = True, False

    def act(self, observation: Observation) -> np.ndarray:
        """What the person commands at this moment, (1, A) float32.

        Raises:
            DeviceError: the teleoperator does not answer; the next call connects it anew.
        """
        state = observation["observation.state"][0]
        if self._begins:
            self._hand.begin(state)
            self._begins = False
        self._wait()
        values = self._read()
        self._heed_buttons()
        return self._hand(values, state)[None]

    def finished(self) -> np.ndarray:
        """(1,) bool: the person ended the episode on the device, where it has a button for that."""
        return np.array([self._finished])

    def intervening(self) -> np.ndarray:
        """(1,) bool, always true: all actions are a person's."""
        return np.array([True])

    def takes_over(self) -> np.ndarray:
        """(1,) bool: the person holds the device's button for it; one without such a button drives throughout."""
        return np.array([self._takes_over])

    def close(self) -> None:
        """Disconnect."""
        if not self._is_lost and self._device.is_connected:
            self._device.disconnect()

    def _let_go(self) -> None:
        """Of a device that does not answer; the next action connects it anew."""
        self._is_lost = True
        # One that is unplugged may not even be disconnected without an error.
        with suppress(Exception):
            self._device.disconnect()

    def _wait(self) -> None:
        """Until the next step is due, a period after the last one was, or at once where that is over."""
        now = time.monotonic()
        time.sleep(max(0.0, self._due_s - now))
        self._due_s = max(self._due_s, now) + self._period_s

    def _read(self) -> Mapping[str, Any]:
        if self._is_lost:
            self._device = connect_teleoperator(self._name, self._settings)
            self._is_lost = False
        try:
            values: Mapping[str, Any] = self._device.get_action()
        # As with connecting: whatever the driver's library raises.
        except Exception as error:
            self._let_go()
            raise DeviceError(
                f"the teleoperator {self._name} does not answer ({one_line(error)}); check that it is "
                "plugged in and switched on, and start again"
            ) from error
        return values

    def _heed_buttons(self) -> None:
        if not hasattr(self._device, "get_teleop_events"):
            return
        from lerobot.teleoperators.utils import TeleopEvents

        # Once in each step: some devices forget what was pressed once they have said it.
        events = self._device.get_teleop_events()
        is_over = any(events.get(event) for event in (TeleopEvents.TERMINATE_EPISODE, TeleopEvents.SUCCESS))
        self._finished = self._finished or is_over
        self._takes_over = bool(events.get(TeleopEvents.IS_INTERVENTION))


def _hand(
    spec: EpisodeSpec,
    names: tuple[str, ...],
    joints: Mapping[str, str],
    controls: Mapping[str, Any] | None,
    shaping: Mapping[str, Any],
) -> Positions | Movements:
    if not is_movement(names):
        return Positions(spec, names, joints)
    try:
        shaped = Shaping(**shaping)
    except TypeError as error:
        raise ConfigError(f"shaping of a teleoperator cannot be used: {error}") from error
    return Movements(spec, AxisMap.from_dict(controls) if controls else None, shaped)
