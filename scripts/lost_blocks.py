"""Prints the indices of a PushT dataset's episodes whose block gets lost in a wall.

gym-pusht's agent, which nothing stops, presses the block through the walls. There it stays, out of reach and as no
table would hold it: what the world learns from is better off without.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from demoloom.generators.realities.pusht import BOARD
from demoloom.storage.dataset import open_dataset

#: Inner faces of gym-pusht's walls, and how deep a block is lost in one; what is pressed less comes out again.
WALLS = (5.0, BOARD - 6.0)
DEEPEST = 25.0
#: The corners of gym-pusht's T, from its origin.
CORNERS = np.array([[-60, 0], [60, 0], [60, 30], [-60, 30], [-15, 30], [15, 30], [15, 120], [-15, 120]], float)


def depth_in_walls(poses: np.ndarray) -> np.ndarray:
    """Of blocks at poses (N, 4) x, y, cos, sin: how far (N,) their deepest corner is in a wall or beyond, in units."""
    cos, sin = poses[:, 2, None], poses[:, 3, None]
    x, y = CORNERS.T
    corners = poses[:, None, :2] + np.stack([cos * x - sin * y, sin * x + cos * y], -1)
    depth: np.ndarray = np.maximum(WALLS[0] - corners, corners - WALLS[1]).clip(0).max((1, 2))
    return depth


def lost_blocks(dataset: Path) -> list[int]:
    """The indices of those episodes."""
    reader = open_dataset(dataset)
    summaries = {summary.id: summary.index for summary in reader.summaries()}
    return [
        summaries[one]
        for one in reader.ids()
        if depth_in_walls(reader.columns(one)["label.block_pose"]).max() > DEEPEST
    ]


if __name__ == "__main__":
    print(*lost_blocks(Path(sys.argv[1])))
