"""Interaction data as the training of a world and of a probe reads it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...storage.columns import ACTION, SCORE, STATE, SUCCESS, image_key, label_key
from ...storage.dataset import EpisodeReader, open_dataset
from ...storage.episode import Episode
from ...storage.errors import ConfigError
from ...storage.row_table import Column, RowTable, join_episodes, read_table
from ...storage.spec import EpisodeSpec
from ...storage.timeline import Timeline
from ..rollout import CORRECTIVE
from .canvas import canvas_size, lay_out

#: A latent cell of 4 x 4 pixels, and one level of the dynamics above it.
_MULTIPLE = 8


@dataclass(frozen=True)
class Interaction:
    """All rows of all episodes end to end; frames stay uint8, and on disk where they do not fit into memory.

    Args:
        spec: of the dataset they come from, with the labels that all of its episodes have.
        frames: (R, H, W, 3V) uint8, the cameras side by side in the channels of a canvas, see `canvas`.
        state: (R, S) float32.
        action: (R, A) float32.
        score, success: (R,) float32 and bool, of this row's frame (an episode's are of the next one).
        scored: (R,) bool, false for the first row of an episode, whose frame nothing scored.
        final_score, final_success: (E,) of the frame after each episode's last row, which was not recorded.
        labels: name -> (R, L) float32.
        timeline: which rows belong to which episode.
        tasks: the texts of the tasks, each once.
        task: (R,) int64, which of them each row belongs to.
    """

    spec: EpisodeSpec
    frames: Column
    state: np.ndarray
    action: np.ndarray
    score: np.ndarray
    success: np.ndarray
    scored: np.ndarray
    final_score: np.ndarray
    final_success: np.ndarray
    labels: dict[str, np.ndarray]
    timeline: Timeline
    tasks: tuple[str, ...]
    task: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """(E + 1,) int64: where each episode starts, and the end."""
        return self.timeline.starts

    def rows(self, episodes: np.ndarray) -> np.ndarray:
        """All rows of these episodes, in order."""
        return self.timeline.rows(episodes)

    def split(self, held_out: float) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the episodes to train on and of those held out: every n-th one, at least one."""
        count = len(self.starts) - 1
        every = max(2, round(1 / held_out))
        numbers = np.arange(count)
        is_held = numbers % every == every - 1 if count >= every else numbers == count - 1
        return numbers[~is_held], numbers[is_held]


def read_interaction(
    path: Path, memory_bytes: int | None = None, num_episodes: int | None = None, multiple: int = _MULTIPLE
) -> Interaction:
    """Read a dataset, LeRobot or Zarr, but for episodes of one row.

    Args:
        path: of the dataset.
        num_episodes: read no more than so many, evenly spread.
        memory_bytes: for frames, half of the machine's if None; more of them are read from disk as they are wanted.
        multiple: of what the sides of the canvas are.

    Raises:
        StoreError: nothing readable lies there.
        ConfigError: fewer than two episodes, no camera, or actions that did not lead to the frames.
    """
    reader = open_dataset(path)
    canvas = canvas_size(reader.spec.cameras, multiple)
    _refuse_corrective(reader)
    long = [summary.id for summary in reader.summaries() if summary.length > 1]
    if num_episodes is not None and len(long) > num_episodes:
        long = [long[at] for at in np.linspace(0, len(long) - 1, num_episodes).round().astype(int)]
    return _interaction(read_table(reader, long, memory_bytes), canvas)


def _refuse_corrective(reader: EpisodeReader) -> None:
    for summary in reader.summaries():
        if summary.lineage.get("actions") == CORRECTIVE:
            raise ConfigError(
                f"the actions of episode {summary.id!r} in {reader.path} are corrections and not what led to its "
                "frames, so that no world can be learnt from them; leave such episodes out with `demoloom select`"
            )


def collect_rows(spec: EpisodeSpec, source: Iterable[Episode], multiple: int = _MULTIPLE) -> Interaction:
    """Lay episodes of at least two rows end to end; errors as for `read_interaction`."""
    canvas = canvas_size(spec.cameras, multiple)
    return _interaction(join_episodes(spec, (episode for episode in source if len(episode) > 1)), canvas)


class SideBySide:
    """The frames of several cameras on a canvas: (N, height, width, 3V) uint8, laid out as they are asked for."""

    def __init__(self, cameras: Sequence[Column], height: int, width: int) -> None:
        self._cameras, self._size = cameras, (height, width)
        self.shape = (len(cameras[0]), height, width, 3 * len(cameras))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> np.ndarray:
        """Of rows, or of rows, ys and xs as arrays."""
        if not isinstance(index, tuple):
            return lay_out([camera[index] for camera in self._cameras], *self._size)
        rows, *inside = index
        # The nearest place inside is what repeated edges show.
        parts = [
            camera[rows, *(np.minimum(at, side - 1) for at, side in zip(inside, camera.shape[1:3], strict=True))]
            for camera in self._cameras
        ]
        return np.concatenate(parts, axis=-1)


def _frames(cameras: Sequence[Column], canvas: tuple[int, int]) -> Column:
    if len(cameras) == 1 and cameras[0].shape[1:3] == canvas:
        return cameras[0]
    return SideBySide(cameras, *canvas)


def _interaction(table: RowTable, canvas: tuple[int, int]) -> Interaction:
    spec, starts = table.spec, table.timeline.starts
    if len(starts) < 3:
        raise ConfigError(f"a learned world needs at least 2 episodes of interaction data, got {len(starts) - 1}")
    labels = {name: label for name, label in spec.labels.items() if label_key(name) in table.columns}
    cameras = [table[image_key(camera.name)] for camera in spec.cameras]
    tasks = tuple(dict.fromkeys(table.tasks))
    score, success = table[SCORE][:], table[SUCCESS][:]
    scored = np.ones(len(table), bool)
    scored[starts[:-1]] = False
    return Interaction(
        spec=replace(spec, labels=labels),
        frames=_frames(cameras, canvas),
        state=table[STATE][:],
        action=table[ACTION][:],
        score=np.where(scored, np.roll(score, 1), np.float32(0)),
        success=scored & np.roll(success, 1),
        scored=scored,
        final_score=score[starts[1:] - 1],
        final_success=success[starts[1:] - 1],
        labels={name: table[label_key(name)][:] for name in labels},
        timeline=table.timeline,
        tasks=tasks,
        task=np.array([tasks.index(task) for task in table.tasks])[table.timeline.episode_of],
    )
