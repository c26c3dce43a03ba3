"""How far off labelled bodies are in the frames of a world: their places and directions, moved and unmoved apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..probe import Probe
from .body_frames import POSE_NAMES
from .interaction import Interaction

#: A body has moved when it is further than this share of its range from where it was, or turned further than this.
_MOVED, _TURNED = 0.002, 1.0


class PoseErrors(NamedTuple):
    """Of bodies whose poses (N, 4) are x, y, cosine, sine: errors (N,) of the place in its unit, and in degrees."""

    place: np.ndarray
    degrees: np.ndarray


def errors_between(one: np.ndarray, other: np.ndarray) -> PoseErrors:
    """Of poses (N, 4)."""
    turned = np.arctan2(one[:, 3], one[:, 2]) - np.arctan2(other[:, 3], other[:, 2])
    degrees = np.degrees(np.abs((turned + np.pi) % (2 * np.pi) - np.pi))
    return PoseErrors(np.linalg.norm(one[:, :2] - other[:, :2], axis=1), degrees)


def median_errors(read: Mapping[str, np.ndarray], true: Mapping[str, np.ndarray], probe: Probe) -> dict[str, float]:
    """Medians for each label that is a pose: `{"block_pose.place": 1.6, "block_pose.degrees": 0.7}`."""
    found = dict[str, float]()
    for label in pose_labels(probe):
        errors = errors_between(read[label], true[label])
        found |= {f"{label}.{name}": float(np.median(values)) for name, values in errors._asdict().items()}
    return found


def pose_rows(
    probe: Probe, data: Interaction, starts: np.ndarray, num_steps: int, shown: Mapping[str, np.ndarray]
) -> Iterator[dict[str, Any]]:
    """Medians and 90th percentiles, of bodies that moved in these steps and of those that did not.

    Args:
        probe: reads the labels.
        data: what really happened.
        starts: (E,) rows that rollouts started from.
        num_steps: how long ago.
        shown: name -> frames (E, H, W, 3V) that ought to show the data's; one row has the errors of all, the first
            under the plain names `place` and `degrees`, the others with their name behind.

    Yields:
        a row for each label that is a pose, moved or not, that has episodes.
    """
    read = {name: probe(frames) for name, frames in shown.items()}
    for label in pose_labels(probe):
        true = data.labels[label][starts + num_steps]
        has_moved = moved_within(data, label, starts, num_steps)
        for moved in (True, False):
            chosen = has_moved == moved
            if chosen.any():
                row = {"steps": num_steps, "label": label, "moved": moved, "episodes": int(chosen.sum())}
                errors = {name: errors_between(poses[label][chosen], true[chosen]) for name, poses in read.items()}
                yield row | _quantiles(errors)


def moved_within(data: Interaction, label: str, starts: np.ndarray, num_steps: int) -> np.ndarray:
    """(E,) bool: whether a body moved or turned at any of the `num_steps` steps after rows `starts` (E,)."""
    poses, vector = data.labels[label], data.spec.labels[label]
    widest = max(high - low for low, high in zip(vector.low[:2], vector.high[:2], strict=True))
    moved = np.zeros(len(starts), bool)
    for step in range(1, num_steps + 1):
        place, degrees = errors_between(poses[starts + step], poses[starts])
        moved |= (place > _MOVED * widest) | (degrees > _TURNED)
    return moved


def pose_labels(probe: Probe) -> list[str]:
    """The labels that are poses."""
    return [name for name, dimensions in probe.labels.items() if tuple(dimensions) == POSE_NAMES]


def _quantiles(errors: Mapping[str, PoseErrors]) -> dict[str, float]:
    found = {}
    for number, (name, pair) in enumerate(errors.items()):
        suffix = f"_{name}" if number else ""
        for kind, values in pair._asdict().items():
            found[f"{kind}{suffix}"] = float(np.median(values))
            found[f"{kind}_p90{suffix}"] = float(np.quantile(values, 0.9))
    return found
