"""Real frames that an episode of a learned world can start from."""

from __future__ import annotations

import numpy as np

from .interaction import Interaction


def choose_starts(data: Interaction, count: int) -> np.ndarray:
    """Rows (K,), at most `count`: first ones of episodes, then others, evenly spread.

    No two come from one moment, so that demonstrations differ: the same start under a script without chance is the
    same demonstration. What moved in the recording starts at rest. Successes are no starts.
    """
    first = data.starts[:-1]
    later = np.setdiff1d(np.arange(len(data.state)), first)
    rows = first[_spread(len(first), count)]
    rows = np.concatenate([rows, later[_spread(len(later), count - len(rows))]])
    return rows[~data.success[rows]]


def _spread(available: int, wanted: int) -> np.ndarray:
    """At most `wanted` of the numbers below `available`, evenly spread."""
    return np.unique(np.linspace(0, available - 1, min(available, max(0, wanted))).round().astype(int))
