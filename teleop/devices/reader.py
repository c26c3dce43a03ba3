"""The thread that reads a device: takes each report as it comes, and comes back when the device does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from ...storage.errors import DeviceError
from .backend import Handle
from .discovery import FoundDevice, NotConnected
from .state import Decode
from .track import Reading, Track

#: Longest report of any device here; what is asked for beyond a report costs nothing, what is cut off is lost.
_REPORT_LENGTH = 128
#: How long a read waits, which is how long closing takes. 0 would wait for ever.
_WAIT_MS = 50
#: The same while several interfaces take turns until one of them says something.
_TURN_MS = 5
#: How often a device that is gone is looked for.
RETRY_S = 1.0


@dataclass(frozen=True)
class _Open:
    """An interface that is open."""

    handle: Handle
    decode: Decode


class DeviceReader:
    """Reads one device until it is closed; unplugged, it waits until the device is plugged in again.

    A thread of its own reads, since a device's queue fills whenever nobody does: read once a step, a robot would move
    on for seconds after the hand has let go.

    Args:
        find: which device to open; asked again whenever it is gone.
        clock: seconds that only go forward.
        wait: lets seconds pass, no longer than until the reader is closed.
    """

    def __init__(
        self,
        find: Callable[[], FoundDevice],
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._find, self._clock = find, clock
        self._track = Track()
        self._open: list[_Open] = []
        self._closing = threading.Event()
        self._wait = wait or self._closing.wait
        # hidapi allows no other thread to close a device than the one that reads it.
        self._thread = threading.Thread(target=self._run, name="demoloom-device", daemon=True)

    def start(self) -> Self:
        """Open the device and begin to read.

        Raises:
            DeviceError: it cannot be opened.
        """
        self.connect()
        self._thread.start()
        return self

    def latest(self) -> Reading:
        """The device now; presses of buttons are counted since the last call."""
        return self._track.latest(self._clock())

    def close(self) -> None:
        """Stop reading and close the device; twice is fine."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def connect(self) -> None:
        """Open all interfaces that the device may send on.

        Raises:
            DeviceError: none can be opened; the message says why and what to do.
        """
        found = self._find()
        reasons = []
        for path in found.paths:
            try:
                self._open.append(_opened(found, path))
            except DeviceError as error:
                reasons.append(str(error))
        if not self._open:
            raise DeviceError(reasons[0])
        self._track.found(found.family)

    def step(self) -> None:
        """What the thread does again and again: take the next report or wait for it, or look for the device."""
        if self._open:
            self._read()
        else:
            self._come_back()

    def _read(self) -> None:
        """Take the next report of each open interface."""
        wait_ms = _WAIT_MS if len(self._open) == 1 else _TURN_MS
        for opened in list(self._open):
            try:
                report = bytes(opened.handle.read(_REPORT_LENGTH, wait_ms)) if opened in self._open else b""
            except (OSError, ValueError):
                self._drop(opened)
                continue
            if report:
                self._take(opened, report)

    def _take(self, opened: _Open, report: bytes) -> None:
        state = opened.decode(report, self._track.state)
        self._track.report(state, self._clock())
        if state is not None:
            # This is the interface that sends; a receiver's others are for devices that it could have as well.
            for other in [other for other in self._open if other is not opened]:
                self._drop(other)

    def _drop(self, opened: _Open) -> None:
        if opened in self._open:
            self._open.remove(opened)
            opened.handle.close()
        if not self._open:
            self._track.lost("the device was unplugged or went out of range; plug it in again and it goes on")

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                self.step()
        finally:
            # However it ends, nothing stays pushed.
            for opened in list(self._open):
                self._drop(opened)

    def _come_back(self) -> None:
        try:
            self.connect()
        except NotConnected:
            self._wait(RETRY_S)
        except OSError as error:
            self._track.lost(str(error))
            self._wait(RETRY_S)


def _opened(found: FoundDevice, path: bytes) -> _Open:
    handle, place = found.backend.device(), path.decode(errors="replace")
    try:
        handle.open_path(path)
        decode = found.family.decoder(found.product_id, handle)
    except OSError as error:
        handle.close()
        # What hidapi says is "open failed", whatever the reason is.
        raise DeviceError(
            f"{found.product} at {place} cannot be opened; close other programs that read it "
            "(spacenavd, 3DconnexionHelper, Steam), or plug it in again"
        ) from error
    if decode is None:
        handle.close()
        raise DeviceError(
            f"{found.product} at {place} does not say where its sticks are; drive with it in the browser "
            "(`demoloom teleop`), or bring hidapi up to date (`pip install -U hidapi`)"
        )
    return _Open(handle, decode)
