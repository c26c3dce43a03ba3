"""Interaction data in memory, as the training of a world and of a probe reads it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...storage.episode import Episode
from ...storage.errors import ConfigError
from ...storage.spec import EpisodeSpec


@dataclass(frozen=True)
class Interaction:
    """All rows of all episodes end to end; frames stay uint8, 12 KiB a row at 64 x 64.

    Args:
        spec: of the dataset they come from, with the labels that all of its episodes have.
        frames: (R, H, W, 3V) uint8, the cameras side by side in the channels.
        state: (R, S) float32.
        action: (R, A) float32.
        score, success: (R,) float32 and bool, of this row's frame (an episode's are of the next one).
        scored: (R,) bool, false for the first row of an episode, whose frame nothing scored.
        final_score, final_success: (E,) of the frame after each episode's last row, which was not recorded.
        labels: name -> (R, L) float32.
        starts: (E + 1,) int64, where each episode starts, and the end.
    """

    spec: EpisodeSpec
    frames: np.ndarray
    state: np.ndarray
    action: np.ndarray
    score: np.ndarray
    success: np.ndarray
    scored: np.ndarray
    final_score: np.ndarray
    final_success: np.ndarray
    labels: dict[str, np.ndarray]
    starts: np.ndarray

    @property
    def episode_of(self) -> np.ndarray:
        """(R,) int64: the number of the episode each row belongs to."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def rows(self, episodes: np.ndarray) -> np.ndarray:
        """All rows of these episodes, in order."""
        return np.concatenate([np.arange(self.starts[e], self.starts[e + 1]) for e in episodes])

    def split(self, held_out: float) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of the episodes to train on and of those held out: every n-th one, at least one."""
        count = len(self.starts) - 1
        every = max(2, round(1 / held_out))
        numbers = np.arange(count)
        is_held = numbers % every == every - 1 if count >= every else numbers == count - 1
        return numbers[~is_held], numbers[is_held]


def read_interaction(path: Path) -> Interaction:
    """Read a whole dataset, LeRobot or Zarr.

    Raises:
        StoreError: nothing readable lies there.
        ConfigError: fewer than two episodes, or cameras of different sizes.
    """
    from ...storage.dataset import open_dataset

    reader = open_dataset(path)
    return collect_rows(reader.spec, reader)


def collect_rows(spec: EpisodeSpec, source: Iterable[Episode]) -> Interaction:
    """Lay episodes of at least two rows end to end."""
    sizes = {(camera.height, camera.width) for camera in spec.cameras}
    if len(sizes) > 1 or any(side % 8 for size in sizes for side in size):
        raise ConfigError(
            f"a learned world needs cameras of one size that is a multiple of 8, got {sorted(sizes)}; resize the frames"
        )
    episodes, final = [], []
    for episode in source:
        if len(episode) > 1:
            episodes.append(_episode_rows(episode, spec))
            final.append((episode.score[-1], episode.success[-1]))
    if len(episodes) < 2:
        raise ConfigError(f"a learned world needs at least 2 episodes of interaction data, got {len(episodes)}")
    present = {name: label for name, label in spec.labels.items() if all(f"labels.{name}" in e for e in episodes)}
    kept = [key for key in episodes[0] if not key.startswith("labels.") or key.removeprefix("labels.") in present]
    joined = {key: np.concatenate([episode.pop(key) for episode in episodes]) for key in kept}
    lengths = np.diff(np.flatnonzero(np.append(~joined["scored"], True)))
    labels = {name: joined.pop(f"labels.{name}") for name in present}
    final_score, final_success = (np.array(values) for values in zip(*final, strict=True))
    return Interaction(
        spec=replace(spec, labels=present),
        labels=labels,
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        final_score=final_score.astype(np.float32),
        final_success=final_success.astype(bool),
        **joined,
    )


def _episode_rows(episode: Episode, spec: EpisodeSpec) -> dict[str, np.ndarray]:
    rows = {
        "frames": np.concatenate([episode.images[camera.name] for camera in spec.cameras], axis=-1),
        "state": np.asarray(episode.state, np.float32),
        "action": np.asarray(episode.action, np.float32),
        "score": np.append(np.float32(0), episode.score[:-1]).astype(np.float32),
        "success": np.append(False, episode.success[:-1]),
        "scored": np.arange(len(episode)) > 0,
    }
    return rows | {f"labels.{name}": np.asarray(label, np.float32) for name, label in episode.labels.items()}
