"""A back end with the behaviour of cython-hidapi 0.15.0, on a clock that only its readers move.

As the real modules do it, seen by running and reading them: `read` gives a list of ints, [] when nothing came in time,
waits for ever with a timeout of 0, cuts a report at the length asked for, and raises OSError once the device is gone
(libusb after the reports that were queued, hidraw at once). libusb keeps the newest 32 reports, hidraw the oldest 63.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

KEEPS = {"libusb": 32, "hidraw": 63}


class Clock:
    """Seconds that go forward when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.wait_until(self.now + seconds)

    def wait_until(self, moment: float) -> None:
        self.now = max(self.now, moment)


class WallClock(Clock):
    """The real one, from 0 on, for tests in which threads read."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def now(self) -> float:  # type: ignore[override]
        return time.monotonic() - self._began

    def wait_until(self, moment: float) -> None:
        time.sleep(max(0.0, moment - self.now))


@dataclass
class FakeDevice:
    """One interface of a device that is plugged in.

    Args:
        entry: as `enumerate` lists it.
        script: (seconds, report) in the order in which they are sent.
        unplugged_at: from then on it is gone.
        plugged_at: from then on it is there again.
    """

    entry: dict[str, Any]
    script: list[tuple[float, bytes]] = field(default_factory=list)
    unplugged_at: float = float("inf")
    plugged_at: float = float("inf")
    can_open: bool = True
    descriptor: bytes = b""

    def is_there(self, now: float) -> bool:
        return now < self.unplugged_at or now >= self.plugged_at


class FakeHandle:
    """What `backend.device()` gives."""

    def __init__(self, backend: FakeBackend) -> None:
        self._backend = backend
        self._device: FakeDevice | None = None
        self._queue: deque[bytes] = deque()
        self._sent = 0
        self._opened_at = 0.0

    def open_path(self, path: bytes) -> None:
        if not isinstance(path, bytes):
            raise TypeError(f"Argument 'path' has incorrect type (expected bytes, got {type(path).__name__})")
        if self._device is not None:
            raise RuntimeError("already open")
        device = next((d for d in self._backend.devices if d.entry["path"] == path), None)
        if device is None or not device.can_open or not device.is_there(self._backend.clock.now):
            raise OSError("open failed")
        self._device, self._opened_at = device, self._backend.clock.now
        # What was sent before a device is opened is nobody's.
        self._sent = sum(at < self._backend.clock.now for at, _ in device.script)
        self._backend.num_open += 1

    def read(self, max_length: int, timeout_ms: int = 0) -> list[int]:
        if self._device is None:
            raise ValueError("not open")
        if max_length <= 0:
            raise OSError("read error")
        until = self._backend.clock.now + timeout_ms / 1000 if timeout_ms else float("inf")
        self._receive()
        while not self._queue and not self._is_broken():
            due = self._next_event()
            assert min(due, until) < float("inf"), "a read with timeout 0 waits for ever"
            self._backend.clock.wait_until(min(due, until))
            if due > until:
                return []
            self._receive()
        if not self._queue or (self._is_broken() and self._backend.kind == "hidraw"):
            raise OSError("read error")
        return list(self._queue.popleft()[:max_length])

    def get_report_descriptor(self) -> list[int]:
        if self._device is None:
            raise ValueError("not open")
        return list(self._device.descriptor)

    def close(self) -> None:
        if self._device is not None:
            self._backend.num_open -= 1
        self._device = None

    def _next_event(self) -> float:
        assert self._device
        script = self._device.script
        unplugged = self._device.unplugged_at if self._backend.clock.now < self._device.unplugged_at else float("inf")
        return min(unplugged, script[self._sent][0] if self._sent < len(script) else float("inf"))

    def _receive(self) -> None:
        """Take up what has been sent by now, as the kernel's queue or libusb's does."""
        device, keeps = self._device, KEEPS[self._backend.kind]
        assert device
        while self._sent < len(device.script) and device.script[self._sent][0] <= self._backend.clock.now:
            at, report = device.script[self._sent]
            self._sent += 1
            if not device.is_there(at) or (self._backend.kind == "hidraw" and len(self._queue) == keeps):
                continue
            self._queue.append(report)
            if len(self._queue) > keeps:
                self._queue.popleft()

    def _is_broken(self) -> bool:
        """A handle to a device that was pulled out stays dead, whatever is plugged in later."""
        assert self._device
        return self._opened_at < self._device.unplugged_at <= self._backend.clock.now


class FakeBackend:
    """What `import hidraw` or `import hid` gives."""

    def __init__(self, *devices: FakeDevice, kind: str = "hidraw", clock: Clock | None = None) -> None:
        assert kind in KEEPS
        self.devices = devices
        self.kind = kind
        self.clock = clock or Clock()
        self.num_open = 0

    def enumerate(self) -> list[dict[str, Any]]:
        return [dict(device.entry) for device in self.devices if device.is_there(self.clock.now)]

    def device(self) -> FakeHandle:
        return FakeHandle(self)


def entry(vendor_id: int, product_id: int, path: bytes = b"/dev/hidraw4", **more: Any) -> dict[str, Any]:
    """An interface as hidapi lists it."""
    return {
        "path": path,
        "vendor_id": vendor_id,
        "product_id": product_id,
        "serial_number": "",
        "product_string": "",
        "usage_page": 0,
        "usage": 0,
        "interface_number": 0,
        **more,
    }


def compact(path: bytes = b"/dev/hidraw4", **more: Any) -> dict[str, Any]:
    """A SpaceMouse Compact as hidraw lists it."""
    return entry(0x256F, 0xC635, path, product_string="SpaceMouse Compact", usage_page=1, usage=8, **more)
