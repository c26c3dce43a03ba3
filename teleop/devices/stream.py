"""A device in a person's hand as a stream: one episode at a time, at the pace of a clock on the wall."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...generators.stream import Observation
from ...storage.errors import ConfigError, DeviceError
from ...storage.spec import EpisodeSpec
from ..controls import Controls
from .discovery import FoundDevice, find_connected
from .reader import DeviceReader
from .settings import family_settings, settings_from
from .track import Reading

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
        self._settings = settings_from(settings or {}, family_settings(find(device).family))
        self._controls = Controls(spec, self._settings.axes, self._settings.shaping)
        self._reader = DeviceReader(lambda: find(device), clock).start()
        self._period_s, self._wait_s = 1 / spec.fps, wait_s
        self._clock, self._sleep = clock, sleep
        self._due_s: float | None = None
        self._finished = False

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
            self._controls.begin(state)
            # What was pressed between two episodes is of neither.
            self._reader.latest()
        self._wait_until_due()
        reading = self._connected_reading()
        commands = self._settings.commands_of(reading, self._controls.axis_map)
        self._finished = not _ENDING.isdisjoint(commands)
        return self._controls.command(self._settings.axes_of(reading), None, state, self._period_s)[None]

    def finished(self) -> np.ndarray:
        """See ActionStream.finished: a button was pressed that keeps or discards."""
        return np.array([self._finished])

    def intervening(self) -> np.ndarray:
        """(1,) bool: a person drives each step."""
        return np.ones(1, bool)

    def close(self) -> None:
        """Let the device go."""
        self._reader.close()

    def _wait_until_due(self) -> None:
        now_s = self._clock()
        due_s = now_s if self._due_s is None else self._due_s
        if due_s > now_s:
            self._sleep(due_s - now_s)
        self._due_s = max(due_s, now_s) + self._period_s

    def _connected_reading(self) -> Reading:
        give_up_s = self._clock() + self._wait_s
        while not (reading := self._reader.latest()).connected:
            if self._clock() > give_up_s:
                raise DeviceError(f"no device for {self._wait_s:g} s: {reading.message}")
            self._sleep(_LOOK_S)
        return reading
