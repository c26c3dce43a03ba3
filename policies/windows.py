"""The windows of demonstrations that a LeRobot policy is trained on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..storage.columns import ACTION, STATE, image_key
from ..storage.row_table import RowTable
from ..storage.windows import WindowDataset

#: What a policy's frozen eyes see of each frame, in place of the images.
SEEN = "observation.seen"


def policy_windows(data: RowTable, config: Any, seen: np.ndarray | None = None) -> WindowDataset:
    """One window for each row, not normalised yet.

    Args:
        data: the demonstrations.
        config: the LeRobot policy config whose delta indices say what a window holds.
        seen: (N, ...) what the policy's frozen eyes see of each frame, handed out as `observation.seen` for images.
    """
    names = [image_key(camera.name) for camera in data.spec.cameras]
    if seen is not None:
        data, names = replace(data, columns={**data.columns, SEEN: seen}), [SEEN]
    observed = dict.fromkeys([STATE, *names], config.observation_delta_indices)
    return WindowDataset(data, {**observed, ACTION: config.action_delta_indices})


def rows_to_start_from(data: RowTable, config: Any, episodes: np.ndarray) -> np.ndarray:
    """The rows of these episodes that windows may start from; the policy may want none of the last few."""
    rows = data.timeline.rows(np.sort(episodes))
    return rows[data.timeline.last(rows) - rows >= getattr(config, "drop_n_last_frames", 0)]
