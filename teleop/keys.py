"""Keys that are held, as axes; keys are named by where they are (`KeyboardEvent.code`), not by their letter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

#: Which axis a held key deflects, and which way. None of them is a command's key (n, r, q, z, p, v and the full stop).
MOVEMENT_KEYS: Mapping[str, tuple[str, float]] = {
    "KeyW": ("y", -1.0),
    "KeyS": ("y", 1.0),
    "KeyA": ("x", -1.0),
    "KeyD": ("x", 1.0),
    "KeyI": ("z", -1.0),
    "KeyK": ("z", 1.0),
    "KeyJ": ("yaw", -1.0),
    "KeyL": ("yaw", 1.0),
    # T tilts away from the person, G towards them, F to the left and H to the right.
    "KeyT": ("roll", -1.0),
    "KeyG": ("roll", 1.0),
    "KeyF": ("pitch", 1.0),
    "KeyH": ("pitch", -1.0),
    "KeyU": ("gripper", -1.0),
    "KeyO": ("gripper", 1.0),
}


def keys_to_axes(held: Iterable[str], keys: Mapping[str, tuple[str, float]] = MOVEMENT_KEYS) -> dict[str, float]:
    """The deflections that held keys stand for; opposite keys cancel, and a diagonal is no faster than a side.

    Args:
        held: codes of the keys that are down; those that `keys` does not list do nothing.
        keys: what each moves.
    """
    summed: dict[str, float] = {}
    for code in set(held) & keys.keys():
        axis, sign = keys[code]
        summed[axis] = summed.get(axis, 0.0) + sign
    axes = {axis: max(-1.0, min(1.0, value)) for axis, value in summed.items()}
    pushed = math.hypot(axes.get("x", 0.0), axes.get("y", 0.0))
    return {axis: value / pushed if axis in ("x", "y") and pushed > 1 else value for axis, value in axes.items()}
