"""First observations that were recorded, for worlds that can start from what they are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..storage.dataset import open_dataset
from ..storage.errors import StoreError
from ..storage.lineage import hash_folder
from .world import World, as_seeds, reset_mask


def drawn_episode(rng: np.random.Generator, num_episodes: int) -> int:
    """Which of a dataset's episodes, in the order of its ids, an episode of this seed starts like.

    Whoever draws one with a generator fresh from the episode's seed, a start or a recording, draws the same.
    """
    return int(rng.integers(num_episodes))


class RecordedStarts(World):
    """Draws the first row of one of a dataset's episodes for each slot, by its seed: a plan's `start_world`.

    It holds all first rows in memory, and can be reset only.

    Args:
        dataset: folder of the starts.
        num_envs: how many are drawn together.

    Raises:
        StoreError: there is no dataset, or it has no episode.
    """

    def __init__(self, dataset: str, num_envs: int) -> None:
        reader = open_dataset(dataset)
        if not len(reader):
            raise StoreError(f"the dataset at {dataset} has no episode to start from; choose starts again")
        rows = [reader.rows(id, 0, 1) for id in reader.ids()]
        super().__init__(replace(reader.spec, labels={}), num_envs, reader.summaries()[0].task)
        self._starts = {
            f"observation.images.{camera.name}": np.concatenate([row.images[camera.name] for row in rows])
            for camera in reader.spec.cameras
        }
        self._starts["observation.state"] = np.concatenate([row.state for row in rows])
        self._hash = hash_folder(Path(dataset))
        self._drawn: np.ndarray | None = None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """See World.reset; `info` is empty, as nothing has happened yet."""
        mask = reset_mask(options, self.num_envs, first=self._drawn is None)
        rngs = [np.random.default_rng(one) for one in as_seeds(seed, self.num_envs)]
        fresh = np.array([drawn_episode(rng, len(self._starts["observation.state"])) for rng in rngs])
        self._drawn = fresh if self._drawn is None else np.where(mask, fresh, self._drawn)
        return {name: values[self._drawn] for name, values in self._starts.items()}, {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Raises NotImplementedError: what follows a recorded start is for another world to say."""
        raise NotImplementedError("recorded starts cannot be driven; give them to a plan as its start_world")

    def identity(self) -> dict[str, Any]:
        """The hash of the dataset."""
        return {"name": "recorded-starts", "dataset": self._hash}
