"""Batches of windows for training, cut out of demonstrations that lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..teleop.policy_checkpoint import as_batch
from .demonstrations import Demonstrations, window


class Windows:
    """What LeRobot's dataset gives a policy with its delta timestamps, without a disk in between.

    Args:
        data: the demonstrations.
        config: the LeRobot policy config whose delta indices say what a window holds.
        seen: (N, ...) what the policy's frozen eyes see of each frame, handed out as `observation.seen` for images.
    """

    def __init__(self, data: Demonstrations, config: Any, seen: torch.Tensor | None = None) -> None:
        self._data, self._config, self._seen = data, config, seen

    def frames_of(self, episodes: np.ndarray) -> np.ndarray:
        """The frames of these episodes that windows may start from; the policy may want none of the last few."""
        frames = self._data.episodes(episodes)
        return frames[self._data.ends[frames] - frames > getattr(self._config, "drop_n_last_frames", 0)]

    def batch(self, frames: np.ndarray) -> dict[str, torch.Tensor]:
        """One window for each of the B `frames`, not normalised yet.

        Returns:
            `observation.state` (B, O, S), `observation.images.<camera>` (B, O, 3, H, W) in [0, 1] or
            `observation.seen` (B, O, ...), `action` (B, T, A) and `action_is_pad` (B, T); no O where
            the policy has no observation steps.
        """
        data = self._data
        seen, _ = window(data, frames, self._config.observation_delta_indices or [0])
        done, is_pad = window(data, frames, self._config.action_delta_indices)
        batch = as_batch({"observation.state": data.state[seen], **self._images(seen)}, self._config)
        if self._seen is not None:
            batch["observation.seen"] = self._seen[torch.as_tensor(seen)]
        return {**batch, "action": torch.as_tensor(data.action[done]), "action_is_pad": torch.as_tensor(is_pad)}

    def _images(self, positions: np.ndarray) -> dict[str, np.ndarray]:
        if self._seen is not None:
            return {}
        return {f"observation.images.{name}": frames[positions] for name, frames in self._data.images.items()}
