"""A point that goes where it is told, and recordings of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from demoloom.storage.episode import Episode
from demoloom.storage.spec import Camera, EpisodeSpec, Vector
from demoloom.storage.zarr_store import ZarrStore

PLACE = Vector(("x", "y"), (0.0, 0.0), (100.0, 100.0))
SPEC = EpisodeSpec(10, (Camera("top", 8, 8),), PLACE, PLACE, {}, "point")

#: The place (x, y) in the red and the green of its frames, which is what a probe would read.
ORIGIN = (10.0, 20.0)


def frame(x: float, y: float) -> np.ndarray:
    """(8, 8, 3) uint8 that shows a place."""
    return np.full((8, 8, 3), (round(x), round(y), 0), np.uint8)


def recorded(index: int, states: list[tuple[float, float]], shown: tuple[float, float] = ORIGIN, **changes) -> Episode:
    """An episode in which each action is the state after it (of the last, the last)."""
    state = np.array(states, np.float32)
    length = len(state)
    known = {"outcome": "success", "reason": "", "lineage": {}} | changes
    return Episode(
        id=f"recorded-{index}",
        index=index,
        seed=index,
        task="Go.",
        images={"top": np.stack([frame(*shown)] * length)},
        state=state,
        action=np.concatenate([state[1:], state[-1:]]),
        reward=np.zeros(length, np.float32),
        success=np.arange(length) == length - 1,
        score=np.linspace(0, 1, length, dtype=np.float32),
        trust=np.ones(length, np.float32),
        **known,
    )


def write(path: Path, episodes: list[Episode], spec: EpisodeSpec = SPEC) -> str:
    """A dataset of these episodes."""
    store = ZarrStore.create(path, spec)
    for episode in episodes:
        store.append(episode)
    return str(path)


def observed(*states: tuple[float, float], shown: tuple[float, float] = ORIGIN) -> dict[str, np.ndarray]:
    """What N slots see that are in these places."""
    return {
        "observation.state": np.array(states, np.float32),
        "observation.images.top": np.stack([frame(*shown)] * len(states)),
    }
