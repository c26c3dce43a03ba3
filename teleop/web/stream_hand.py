"""A stream in the place of the page's keys and pointer: a device that is plugged in where the server runs."""

from __future__ import annotations

import numpy as np

from ...generators.stream import ActionStream, Intervening
from ..driving import Seen


class StreamHand:
    """Drives a session by what a stream says at each step.

    Args:
        stream: of one slot.
        name: for the lineage of takes.
    """

    def __init__(self, stream: ActionStream, name: str) -> None:
        self.name = name
        self._stream = stream
        self._num_starts = 0
        self._begins = True

    def begin(self) -> None:
        """The robot is suddenly elsewhere."""
        self._begins = True

    def command(self, seen: Seen) -> tuple[np.ndarray, bool]:
        """The next action (A,), and whether it is a person's; that of a stream which does not say is not.

        Raises:
            DeviceError: a device does not answer; asked again, it may.
        """
        if self._begins:
            self._stream.reset([self._num_starts], np.ones(1, bool))
            self._begins, self._num_starts = False, self._num_starts + 1
        frames = {f"observation.images.{name}": frame[None] for name, frame in seen.frames.items()}
        action = self._stream.act({**frames, "observation.state": seen.state[None]})[0]
        return action, isinstance(self._stream, Intervening) and bool(self._stream.intervening()[0])

    def close(self) -> None:
        """Let go of the device, if the stream reads one."""
        if hasattr(self._stream, "close"):
            self._stream.close()
