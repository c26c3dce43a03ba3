"""Checking the observation that a caller wants a world to start from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..storage.errors import SpecMismatch
from ..storage.spec import EpisodeSpec


def given_start(
    start: Mapping[str, np.ndarray], spec: EpisodeSpec, num_envs: int
) -> tuple[list[np.ndarray], np.ndarray]:
    """Frames (N, H, W, 3) uint8 of each camera, in the spec's order, and states (N, S) float32.

    Args:
        start: what a caller gave a world as `options["start"]`.
        spec: of the world.
        num_envs: N.

    Raises:
        SpecMismatch: it is not an observation of N slots of this spec; the message lists what differs.
    """
    shapes: dict[str, tuple[int, ...]] = {
        f"observation.images.{camera.name}": (num_envs, camera.height, camera.width, 3) for camera in spec.cameras
    }
    shapes["observation.state"] = (num_envs, spec.state.size)
    wrong = [sentence for name, shape in shapes.items() if (sentence := _difference(name, shape, start))]
    if wrong:
        raise SpecMismatch(f"this world cannot start from the given observation: {'; '.join(wrong)}")
    *cameras, state = (np.asarray(start[name]) for name in shapes)
    return cameras, state


def _difference(name: str, shape: tuple[int, ...], start: Mapping[str, np.ndarray]) -> str:
    """What is wrong with one entry of a given start; empty if nothing is."""
    if name not in start:
        return f"{name} is missing"
    given, kind = np.asarray(start[name]), "uint8" if "images" in name else "float32"
    if given.shape == shape and given.dtype == kind:
        return ""
    return f"{name} is {given.dtype} {given.shape}, expected {kind} {shape}"
