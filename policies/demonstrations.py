"""Demonstrations as policies are trained on them, and what LeRobot wants to know of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..storage.columns import ACTION, STATE, image_key
from ..storage.dataset import open_dataset
from ..storage.errors import InvalidEpisode, StoreError
from ..storage.norm_stats import image_stats, pixel_histogram, vector_stats
from ..storage.row_table import Column, RowTable, read_table
from ..storage.spec import EpisodeSpec

#: Rows whose frames are in memory at once while they are counted.
_BLOCK = 256


def load_demonstrations(path: Path) -> RowTable:
    """A whole dataset of demonstrations; frames that do not fit into half of the machine's memory stay on disk.

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
    if not len(reader):
        raise StoreError(f"{path} holds no episode to train on; generate some first")
    return read_table(reader)


def lerobot_features(spec: EpisodeSpec) -> dict[str, dict[str, Any]]:
    """The spec as LeRobot's dataset features, from which it makes a policy's inputs and outputs."""
    features: dict[str, dict[str, Any]] = {
        image_key(camera.name): {
            "dtype": "video",
            "shape": (camera.height, camera.width, 3),
            "names": ["height", "width", "channels"],
        }
        for camera in spec.cameras
    }
    for key, vector in ((STATE, spec.state), (ACTION, spec.action)):
        features[key] = {"dtype": "float32", "shape": (vector.size,), "names": list(vector.names)}
    return features


def statistics(data: RowTable) -> dict[str, dict[str, np.ndarray]]:
    """Exact statistics of state, action and images, float32 under LeRobot's names (see `storage.norm_stats`)."""
    found = {image_key(camera.name): _image_stats(data[image_key(camera.name)]) for camera in data.spec.cameras}
    found |= {name: vector_stats(data[name][:]) for name in (STATE, ACTION)}
    return {key: {name: np.asarray(value, np.float32) for name, value in of.items()} for key, of in found.items()}


def _image_stats(frames: Column) -> dict[str, np.ndarray]:
    starts = range(0, len(frames), _BLOCK)
    histogram = sum((pixel_histogram(frames[start : start + _BLOCK]) for start in starts), np.zeros((3, 256), np.int64))
    return image_stats(histogram, len(frames))
