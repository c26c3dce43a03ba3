"""A device in a person's hand as a stream: one episode at a time, at the pace of a clock on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...generators.stream import Observation
from ...storage.errors import ConfigError, DeviceError
from ...storage.spec import EpisodeSpec
from ..controls import Controls
from .discovery import FoundDevice, find_connected
from .in_hand import Grip, take_in_hand
from .settings import settings_from

#: What ends an episode.
_ENDING = {"keep", "discard", "redo"}
#: How often a device that is unplugged is looked at, in seconds.
_LOOK_S = 0.05


class DeviceStream:
    """Drives one slot as the hand does: each action is what the device says at that step, whatever its own rate is.

    A step waits until it is due, 1 / fps after the one before; what is late is not made up for by a burst. While the
    device is unplugged nothing is stepped: plugged in again in time, the episode goes on.

    Args:
        spec: of the world to drive.
        device: `any`, a family (`spacemouse`, `gamepad`) or a path.
        settings: what differs from the family's own, as `settings_from` takes it.
        wait_s: seconds to wait for a device that was unplugged.
        find: what is connected under a name.
        clock, sleep: of the wall, in seconds.

    Raises:
        ConfigError: a setting cannot be used, or more than one slot is to be driven.
        DeviceError: no such device is connected, it cannot be opened, or it stayed unplugged.
    """

    def __init__(
        self,
        spec: EpisodeSpec,
        device: str = "any",
        settings: Mapping[str, Any] | None = None,
        wait_s: float = 60.0,
        find: Callable[[str], FoundDevice] = find_connected,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._device = take_in_hand(device, partial(settings_from, settings or {}), find, clock)
        own = self._device.settings
        self._controls = Controls(spec, own.axes, own.shaping)
        self._period_s, self._wait_s = 1 / spec.fps, wait_s
        self._clock, self._sleep = clock, sleep
        self._due_s: float | None = None
        self._finished = self._is_beside_another = False

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """See ActionStream.reset."""
        if len(mask) != 1:
            raise ConfigError(f"a person drives one episode at a time, got {len(mask)} slots; ask for one slot")
        if mask[0]:
            self._due_s, self._finished = None, False

    def act(self, observation: Observation) -> np.ndarray:
        """See ActionStream.act; waits until the step is due."""
        state = observation["observation.state"][0]
        if self._due_s is None:
            # What was pressed between two episodes is of neither.
            self._look()
        # While the hand rests, another may have driven the robot elsewhere.
        if self._due_s is None or (self._is_beside_another and not self._controls.moving):
            self._controls.begin(state)
        self._wait_until_due()
        grip = self._grip()
        self._finished = not _ENDING.isdisjoint(grip.commands)
        return self._controls.command(grip.axes, None, state, self._period_s)[None]

    def finished(self) -> np.ndarray:
        """See ActionStream.finished: a button was pressed that keeps or discards."""
        return np.array([self._finished])

    def intervening(self) -> np.ndarray:
        """(1,) bool, always true: all actions are a person's."""
        return np.ones(1, bool)

    def takes_over(self) -> np.ndarray:
        """(1,) bool: whether the hand was off rest at the last step; asked for by what lets another drive while not."""
        self._is_beside_another = True
        return np.array([self._controls.moving])

    def close(self) -> None:
        """Let the device go."""
        self._device.close()

    def _wait_until_due(self) -> None:
        now_s = self._clock()
        due_s = now_s if self._due_s is None else self._due_s
        if due_s > now_s:
            self._sleep(due_s - now_s)
        self._due_s = max(due_s, now_s) + self._period_s

    def _look(self) -> Grip:
        return self._device.look(self._controls.axis_map)

    def _grip(self) -> Grip:
        """The device now, waited for while it is unplugged."""
        give_up_s = self._clock() + self._wait_s
        while not (grip := self._look()).connected:
            if self._clock() > give_up_s:
                raise DeviceError(f"no device for {self._wait_s:g} s: {grip.message}")
            self._sleep(_LOOK_S)
        return grip
