"""What all gamepads have: sticks, a hat, triggers, and buttons named by where they are."""

from __future__ import annotations

_HAT = ("up", "right", "down", "left")


def stick(value: int, low: int = 0, high: int = 255) -> float:
    """A stick's count as a deflection in [-1, 1]; 0 in the middle, y towards the person as in `AXES`."""
    half = (high - low + 1) // 2
    return max(-1.0, min(1.0, (value - low - half) / max(high - low - half, 1)))


def trigger(value: int, low: int = 0, high: int = 255) -> float:
    """A trigger's count as a pull in [0, 1]."""
    return max(0.0, min(1.0, (value - low) / (high - low)))


def hat_buttons(value: int) -> frozenset[str]:
    """Which of up, right, down and left are held; `value` is 0 for up and grows clockwise to 7, others are none."""
    if not 0 <= value < 8:
        return frozenset()
    first = _HAT[value // 2]
    return frozenset({first, _HAT[(value // 2 + 1) % 4]} if value % 2 else {first})


def pad_axes(left: tuple[float, float], right: tuple[float, float], pulls: tuple[float, float]) -> dict[str, float]:
    """Axes of two sticks (x, y) and two triggers: left x, y; right yaw, z; the right trigger shuts, the left opens."""
    return {"x": left[0], "y": left[1], "yaw": right[0], "z": right[1], "gripper": pulls[1] - pulls[0]}
