"""What is made of a deflection before it moves anything: dead zone, response curve, smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..storage.errors import ConfigError
from .axis_map import AXES, Axes


@dataclass(frozen=True)
class Shaping:
    """How a hand's deflections become speeds.

    Args:
        speed: share of an action's range that full deflection moves in a second.
        reach: share of an action's range that a target may be ahead of where the robot is; what is further ahead is
            hard to stop, and a world model has seldom seen it.
        dead_zone: deflection up to which a hand is at rest; what is beyond starts at 0 again.
        curve: from 0 (proportional) to 1 (cubic, fine near rest); full deflection is full speed with any.
        smoothing_s: time constant in seconds by which speed follows the hand; letting go acts at once.

    Raises:
        ConfigError: a number is out of its range.
    """

    speed: float = 0.5
    reach: float = 0.2
    dead_zone: float = 0.08
    curve: float = 0.5
    smoothing_s: float = 0.06

    def __post_init__(self) -> None:
        _check("speed", self.speed, self.speed > 0, "above 0")
        _check("reach", self.reach, 0 < self.reach <= 1, "above 0 and at most 1")
        _check("dead_zone", self.dead_zone, 0 <= self.dead_zone <= 0.9, "0 to 0.9")
        _check("curve", self.curve, 0 <= self.curve <= 1, "0 to 1")
        _check("smoothing_s", self.smoothing_s, self.smoothing_s >= 0, "0 or more seconds")

    def shape(self, axes: Axes) -> dict[str, float]:
        """The deflections with dead zone and curve, all of `AXES`, each in [-1, 1] and exactly 0.0 at rest.

        x and y are one stick: dead zone and curve act on how far it is pushed and leave the direction alone, and its
        corners are no faster than its sides.

        Raises:
            ValueError: a deflection is not a finite number.
        """
        given = {axis: _finite(axis, axes.get(axis, 0.0)) for axis in AXES}
        pushed = math.hypot(given["x"], given["y"])
        share = self._respond(min(pushed, 1.0)) / pushed if pushed else 0.0
        shaped = {axis: math.copysign(self._respond(min(abs(value), 1.0)), value) for axis, value in given.items()}
        shaped |= {"x": given["x"] * share, "y": given["y"] * share}
        return {axis: value or 0.0 for axis, value in shaped.items()}

    def follow(self, before: float, wanted: float, dt: float) -> float:
        """What a smoothed deflection is `dt` seconds after `before`; rest is reached at once."""
        if wanted == 0.0 or self.smoothing_s == 0.0:
            return wanted
        return before + (wanted - before) * -math.expm1(-dt / self.smoothing_s)

    def _respond(self, deflection: float) -> float:
        """Dead zone and curve of a deflection in [0, 1]."""
        beyond = max(0.0, (deflection - self.dead_zone) / (1 - self.dead_zone))
        return (1 - self.curve) * beyond + self.curve * beyond**3


def _check(name: str, value: float, fits: bool, range_: str) -> None:
    if not (fits and math.isfinite(value)):
        raise ConfigError(f"{name} of a person's controls must be {range_}, got {value}")


def _finite(axis: str, value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(f"axis {axis!r} is {value}")
    return value
