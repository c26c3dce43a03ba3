"""Where takes start: frames that were recorded, chosen by number or drawn by seed, or a world's own starts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...generators.recording import IMAGES
from ...generators.seeds import episode_seed
from ...storage.dataset import EpisodeReader, open_dataset
from ...storage.errors import ConfigError, SpecMismatch, StoreError
from ...storage.spec import EpisodeSpec

#: Start frames that are offered; those of a large dataset are spread evenly over its episodes.
MOST_STARTS = 240

Frames = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Start:
    """Where one take starts: at the recorded frame `index`, or where the world's own draw by `seed` leads."""

    seed: int
    index: int | None = None


class Starts:
    """The starts that a person chooses from, shared by all sessions of a server.

    Args:
        frames: camera name -> (N, H, W, 3) uint8; none where the world draws its own by seed alone.
        states: (N, S) float32, which go with them.
        run_seed: of the draws.
        first: how many draws were made before.
    """

    def __init__(self, frames: Frames, states: np.ndarray, run_seed: int = 0, first: int = 0) -> None:
        self._frames, self._states = frames, states
        self._seeds: Iterator[int] = (episode_seed(run_seed, index) for index in itertools.count(first))

    def __len__(self) -> int:
        return len(self._states)

    def draw(self) -> Start:
        """The next start by chance."""
        return self.by_seed(next(self._seeds))

    def by_seed(self, seed: int) -> Start:
        """The start that this seed draws."""
        return Start(seed, int(np.random.default_rng(seed).integers(len(self))) if len(self) else None)

    def by_index(self, index: int) -> Start:
        """The start at a recorded frame.

        Raises:
            ConfigError: there are not so many.
        """
        if not 0 <= index < len(self):
            raise ConfigError(f"there is no start {index}; there are {len(self)}, counted from 0")
        return Start(index, index)

    def options(self, start: Start) -> dict[str, Any]:
        """What a world of one slot is reset with to start there."""
        if start.index is None:
            return {}
        chosen = slice(start.index, start.index + 1)
        observation = {f"{IMAGES}{camera}": frames[chosen].copy() for camera, frames in self._frames.items()}
        return {"start": {**observation, "observation.state": self._states[chosen].copy()}}

    def frame(self, index: int) -> np.ndarray:
        """(H, W, 3) uint8, the first camera's frame of a start; ConfigError as in `by_index`."""
        self.by_index(index)
        return next(iter(self._frames.values()))[index]


def no_starts(run_seed: int = 0, first: int = 0) -> Starts:
    """Those of a world that draws its own by seed, and has no frames to show of them."""
    return Starts({}, np.zeros((0, 0), np.float32), run_seed, first)


def dataset_starts(path: Path, spec: EpisodeSpec, run_seed: int = 0, first: int = 0) -> Starts:
    """The first frames of a dataset's episodes.

    Raises:
        StoreError: there is no dataset, or it has no episode.
        SpecMismatch: it is not of this robot.
    """
    reader = open_dataset(path)
    if found := reader.spec.differences(spec):
        raise SpecMismatch(f"the starts in {path} are not of this world: {'; '.join(found)}")
    ids = reader.ids()
    if not ids:
        raise StoreError(f"the dataset at {path} has no episode to start from; name another with --starts")
    return _first_rows(reader, [ids[number] for number in _spread(len(ids))], run_seed, first)


def checkpoint_starts(path: Path, spec: EpisodeSpec, run_seed: int = 0, first: int = 0) -> Starts:
    """The start frames that a learned world keeps in its checkpoint (`starts.npz`); none where that file is missing."""
    from ...generators.learned.canvas import cut_out

    if not (path / "starts.npz").is_file():
        return no_starts(run_seed, first)
    with np.load(path / "starts.npz") as kept:
        frames, states, tasks = kept["frames"], kept["states"], kept["tasks"]
    # As `LearnedWorld` draws: those of its first task, or all where none of them was kept.
    own = np.flatnonzero(tasks == 0 if (tasks == 0).any() else tasks != 0)
    chosen = own[_spread(len(own))]
    return Starts(cut_out(frames[chosen], spec.cameras), states[chosen].astype(np.float32), run_seed, first)


def _first_rows(reader: EpisodeReader, ids: list[str], run_seed: int, first: int) -> Starts:
    rows = [reader.rows(id, 0, 1) for id in ids]
    frames = {camera.name: np.concatenate([row.images[camera.name] for row in rows]) for camera in reader.spec.cameras}
    return Starts(frames, np.concatenate([row.state for row in rows]), run_seed, first)


def _spread(available: int) -> np.ndarray:
    """At most `MOST_STARTS` of the numbers below `available`, evenly spread."""
    return np.unique(np.linspace(0, available - 1, min(available, MOST_STARTS)).round().astype(int))
