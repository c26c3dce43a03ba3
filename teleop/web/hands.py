"""All that one person drives with: the page, a device of the server's machine beside it, or a stream instead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..controls import Controls
from ..driving import Seen
from .hand import Hand, Held
from .own_device import News, OwnDevice
from .stream_hand import StreamHand


class Hands:
    """Makes the action of each step out of what is held then.

    Args:
        controls: what deflections and a pointer command.
        stream: drives in the place of the page's keys and pointer, which then do nothing.
        device: of the server's own machine, which the session has taken; it goes before the page while it is off rest.
    """

    def __init__(self, controls: Controls, stream: StreamHand | None = None, device: OwnDevice | None = None) -> None:
        self.controls = controls
        self.page = Hand()
        #: What went into the last command.
        self.held = Held()
        self._stream, self._device = stream, device
        self._used: set[str] = set()

    def begin(self, state: np.ndarray) -> None:
        """The robot is suddenly at `state` (S,): targets start from there."""
        self.controls.begin(state)
        if self._stream is not None:
            self._stream.begin()

    def take_begins(self) -> None:
        """From here on count which hands are used."""
        self._used.clear()

    def driver(self) -> dict[str, str]:
        """Who has driven since the take began, for its lineage."""
        if self._stream is not None:
            return {"kind": "stream", "name": self._stream.name}
        return {"kind": "person", "name": " and ".join(sorted(self._used)) or "browser"}

    def look(self) -> News:
        """What the device did since the last look."""
        return News() if self._device is None else self._device.look(self.controls.axis_map)

    def silent_s(self, now: float) -> float:
        """Seconds for which the page has said nothing; 0 where a device is held, whose person only looks at it."""
        return self.page.silent_s(now) if self._device is None else 0.0

    def moving(self, now: float) -> bool:
        """Whether anything is held."""
        return bool(self._holding(now)[1])

    def command(self, seen: Seen, dt: float, now: float) -> tuple[np.ndarray, bool]:
        """The next action (A,), and whether it is a person's.

        Raises:
            DeviceError: a stream's device does not answer; asked again, it may.
        """
        self.held, hand = self._holding(now)
        self._used |= {hand} - {""}
        if self._stream is not None:
            return self._stream.command(seen)
        return self.controls.command(self.held.axes, self.held.pointer, seen.state, dt), True

    def close(self) -> None:
        """Let go of what is not the page's."""
        if self._stream is not None:
            self._stream.close()
        if self._device is not None:
            self._device.give_back()

    def _holding(self, now: float) -> tuple[Held, str]:
        """What is held, and by which hand; "" if nothing is."""
        held = self.page.held(now)
        if self._device is not None and self._device.axes:
            return replace(held, axes=self._device.axes, pointer=None), self._device.name
        return held, "browser" if held.axes or held.pointer is not None else ""
