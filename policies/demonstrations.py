"""Demonstrations held in memory, and the windows of them that a policy trains on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..storage.dataset import open_dataset
from ..storage.episode import Episode
from ..storage.errors import InvalidEpisode, StoreError
from ..storage.spec import EpisodeSpec


@dataclass(frozen=True)
class Demonstrations:
    """Episodes laid end to end, N frames in all.

    Args:
        spec: what they hold.
        images: camera name -> (N, H, W, 3) uint8.
        state: (N, S) float32.
        action: (N, A) float32.
        lengths: frames of each episode.
    """

    spec: EpisodeSpec
    images: Mapping[str, np.ndarray]
    state: np.ndarray
    action: np.ndarray
    lengths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.action)

    @cached_property
    def ends(self) -> np.ndarray:
        """(N,) int: for each frame, where its episode ends (one past the last)."""
        return np.repeat(np.cumsum(self.lengths), self.lengths)

    @cached_property
    def starts(self) -> np.ndarray:
        """(N,) int: for each frame, where its episode starts."""
        return self.ends - np.repeat(self.lengths, self.lengths)

    def episodes(self, chosen: np.ndarray) -> np.ndarray:
        """Frames of these episodes, by their position."""
        number = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return np.flatnonzero(np.isin(number, chosen))


def load_demonstrations(path: Path) -> Demonstrations:
    """Read a whole dataset of demonstrations.

    Raises:
        StoreError: it holds no episode.
        InvalidEpisode: an episode in it is not a demonstration; nothing is trained on failures unseen.
    """
    reader = open_dataset(path)
    for summary in reader.summaries():
        if summary.outcome != "success":
            raise InvalidEpisode(
                f"episode {summary.id} of {path} is no demonstration (its outcome is {summary.outcome!r}: "
                f"{summary.reason}); train on a folder of successful episodes only, as `demoloom generate` writes it"
            )
    episodes = list(reader)
    if not episodes:
        raise StoreError(f"{path} holds no episode to train on; generate some first")
    return join(reader.spec, episodes)


def join(spec: EpisodeSpec, episodes: Sequence[Episode]) -> Demonstrations:
    """Lay episodes end to end."""
    return Demonstrations(
        spec,
        {camera.name: np.concatenate([e.images[camera.name] for e in episodes]) for camera in spec.cameras},
        np.concatenate([e.state for e in episodes]),
        np.concatenate([e.action for e in episodes]),
        tuple(len(e) for e in episodes),
    )


def window(data: Demonstrations, frames: np.ndarray, deltas: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Where the frames at `deltas` from `frames` lie, as LeRobot's delta timestamps choose them.

    Returns:
        (B, D) int positions, held at the first or last frame of the episode, and (B, D) bool, true where they were.
    """
    wanted = frames[:, None] + np.asarray(deltas)
    held = np.clip(wanted, data.starts[frames][:, None], data.ends[frames][:, None] - 1)
    return held, held != wanted


def lerobot_features(spec: EpisodeSpec) -> dict[str, dict[str, Any]]:
    """The spec as LeRobot's dataset features, from which it makes a policy's inputs and outputs."""
    features: dict[str, dict[str, Any]] = {
        f"observation.images.{camera.name}": {
            "dtype": "video",
            "shape": (camera.height, camera.width, 3),
            "names": ["height", "width", "channels"],
        }
        for camera in spec.cameras
    }
    for key, vector in (("observation.state", spec.state), ("action", spec.action)):
        features[key] = {"dtype": "float32", "shape": (vector.size,), "names": list(vector.names)}
    return features


def statistics(data: Demonstrations) -> dict[str, dict[str, np.ndarray]]:
    """Exact mean, std, min and max of every feature, under LeRobot's names; images (3, 1, 1) of values in [0, 1]."""
    found = {f"observation.images.{name}": _image_statistics(frames) for name, frames in data.images.items()}
    for key, values in (("observation.state", data.state), ("action", data.action)):
        wide = values.astype(np.float64)
        found[key] = _named(wide.mean(0), wide.std(0), wide.min(0), wide.max(0))
    return found


def _image_statistics(frames: np.ndarray) -> dict[str, np.ndarray]:
    # A histogram is exact and needs no floating-point copy of every frame.
    level = np.arange(256) / 255
    share = np.stack([np.bincount(frames[..., c].ravel(), minlength=256) for c in range(3)]) / frames[..., 0].size
    mean = share @ level
    std = np.sqrt(share @ level**2 - mean**2)
    seen = [level[row > 0] for row in share]
    bounds = np.array([row.min() for row in seen]), np.array([row.max() for row in seen])
    return {name: value.reshape(3, 1, 1) for name, value in _named(mean, std, *bounds).items()}


def _named(*values: Any) -> dict[str, np.ndarray]:
    return dict(zip(("mean", "std", "min", "max"), (np.asarray(v, np.float32) for v in values), strict=True))
