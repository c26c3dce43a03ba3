"""How well the starts of episodes cover the space they could start in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..spec import Vector
from .motion import normalised

#: More dimensions make so many cells that every start has one of its own, whatever the dataset.
_NUM_DIMENSIONS = 2


@dataclass(frozen=True)
class StartCells:
    """The cells that episodes start in.

    Args:
        dimensions: the names of the dimensions of the state that are divided: those in which starts vary most.
        coverage: share of all cells that an episode starts in.
        share: (N,) for each episode, the share of all episodes that start in its cell.
    """

    dimensions: tuple[str, ...]
    coverage: float
    share: np.ndarray


def start_cells(starts: np.ndarray, state: Vector, num_cells: int) -> StartCells:
    """Divide the bounds of the (at most two) dimensions in which starts vary most into `num_cells` parts each.

    Args:
        starts: (N, S) the first state of each episode; what lies outside the bounds counts to the outermost cell.
        state: names and bounds of the dimensions.
        num_cells: parts of each dimension.
    """
    places = normalised(starts - np.asarray(state.low), state)
    chosen = np.sort(np.argsort(-places.std(0), kind="stable")[:_NUM_DIMENSIONS])
    cells = np.clip((places[:, chosen] * num_cells).astype(int), 0, num_cells - 1)
    _, cell, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return StartCells(
        dimensions=tuple(state.names[dim] for dim in chosen),
        coverage=len(counts) / num_cells ** len(chosen),
        share=counts[cell.reshape(-1)] / len(starts),
    )
