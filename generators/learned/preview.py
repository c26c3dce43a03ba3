"""A picture of what a world does: real frames and open-loop frames above each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .evaluation import OpenLoop
from .interaction import Interaction
from .model import WorldModel

_COLUMNS = (0, 8, 16, 32, 64, 96, 128, 160, 192)
_MAX_EPISODES = 6
_ZOOM = 2
_GAP = 2


def write_preview(path: Path, model: WorldModel, data: Interaction, run: OpenLoop) -> None:
    """Write a contact sheet as PNG: for each episode a row of real frames and under it the model's, in open loop.

    The columns are the steps 0, 8, 16, 32, 64, ... as far as the rollouts go; only the first camera is shown.
    """
    steps = [step for step in _COLUMNS if step in run.latents]
    count = min(_MAX_EPISODES, len(run.rows))
    real = [data.frames[run.rows[:count] + step][..., :3] for step in steps]
    shown = [model.decode(run.latents[step][:count])[..., :3] for step in steps]
    rows = []
    for episode in range(count):
        rows += [_strip([frames[episode] for frames in real]), _strip([frames[episode] for frames in shown])]
    sheet = np.concatenate([np.pad(row, ((0, _GAP), (0, 0), (0, 0))) for row in rows])
    write_png(path, sheet.repeat(_ZOOM, 0).repeat(_ZOOM, 1))


def _strip(frames: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.pad(frame, ((0, 0), (0, _GAP), (0, 0))) for frame in frames], axis=1)


def write_png(path: Path, image: np.ndarray) -> None:
    """Write (H, W, 3) uint8 RGB as a PNG file."""
    import cv2

    cv2.imwrite(str(path), image[..., ::-1])
