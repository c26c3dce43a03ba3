"""The rows of an episode at another rate.

A new row at time t_j has
- the frames and the labels of the row stamped nearest (labels describe what the frame shows),
- the state between the two rows around it, linearly,
- the action that was held then: of the last row stamped at or before t_j,
- as outcome what came of the rows that were held from t_j to t_j+1: the rewards' sum, success if any of them was
  solved, the score after the last, the least trust, an intervention if any was. So no reward and no success is lost,
  whatever the two rates are.

An action is taken for a target that holds until the next one; displacements would have to be summed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..dataset import EpisodeReader
from ..drafts import block_ranges, rows_per_block
from ..episode import Rows

# A row of a jittery clock is in time if it is no later than its clock's jitter, and by this part of a row at most.
_LATE = 0.25
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Resampling:
    """Which rows of an episode of T make each of the N new ones.

    Args:
        nearest: (N,) int64, the row stamped nearest.
        before: (N,) int64, the row before (or at) the new one's time, for the state.
        weight: (N,) float32 in [0, 1], how far the new row lies from there to the next row.
        held: (N + 1,) int64, the row whose action is held; T at the end.
    """

    nearest: np.ndarray
    before: np.ndarray
    weight: np.ndarray
    held: np.ndarray

    def __len__(self) -> int:
        return len(self.nearest)

    @classmethod
    def plan(cls, times: np.ndarray, step: float) -> Resampling:
        """Plan new rows each `step` rows of the source, beginning with its first.

        Args:
            times: (T,) float64, when each row was recorded, in rows of the source (1 apart, as a rule); rising.
            step: source rows to a new row, above 0.
        """
        last = len(times) - 1
        late = min(_LATE, _jitter(times)) + _ROUNDING
        # The last row lasts as long as a row should.
        count = max(1, math.ceil((times[-1] + 1 - times[0] - late) / step))
        wanted = times[0] + step * np.arange(count)
        before = np.clip(np.searchsorted(times, wanted, side="right") - 1, 0, max(0, last - 1))
        after = np.minimum(before + 1, last)
        gap = np.where(after > before, times[after] - times[before], 1.0)
        weight = np.clip((wanted - times[before]) / gap, 0, 1)
        in_time = np.searchsorted(times, wanted + late, side="right")
        return cls(
            nearest=np.where(weight > 0.5, after, before),
            before=before,
            weight=weight.astype(np.float32),
            held=np.append(in_time - 1, len(times)),
        )

    def blocks(self, source: EpisodeReader, id: str) -> Iterator[Rows]:
        """The new rows of a stored episode; for each block a few megabytes of the source are read."""
        rows_per_row = max(1.0, self.held[-1] / len(self))
        for start, stop in block_ranges(0, len(self), max(1, int(rows_per_block(source.spec) / rows_per_row))):
            first, end = self._span(start, stop)
            yield self._made(source.rows(id, first, end), first, slice(start, stop))

    def _span(self, start: int, stop: int) -> tuple[int, int]:
        """The first row of the source that new rows start .. stop - 1 need, and the one after the last."""
        first = min(int(self.before[start]), int(self.held[start]) - 1)
        end = max(int(self.before[stop - 1]) + 2, int(self.held[stop]))
        return max(0, first), min(end, int(self.held[-1]))

    def _made(self, there: Rows, first: int, chosen: slice) -> Rows:
        """New rows out of source rows first, first + 1, ..."""
        nearest, before = self.nearest[chosen] - first, self.before[chosen] - first
        after = np.minimum(before + 1, len(there) - 1)
        weight = self.weight[chosen, None]
        held = self.held[chosen.start : chosen.stop + 1] - first
        ended = np.maximum(held[1:] - 1, 0)  # the last row whose outcome is known at the end of the new one
        spans, drove = list(pairwise(held.tolist())), there.intervention
        return Rows(
            images={name: frames[nearest] for name, frames in there.images.items()},
            labels={name: values[nearest] for name, values in there.labels.items()},
            state=(1 - weight) * there.state[before] + weight * there.state[after],
            action=there.action[held[:-1]],
            reward=np.array([there.reward[start:stop].sum() for start, stop in spans], np.float32),
            success=np.array([there.success[_window(*span)].any() for span in spans]),
            score=there.score[ended],
            trust=np.array([there.trust[_window(*span)].min() for span in spans], np.float32),
            intervention=None if drove is None else np.array([drove[_window(*span)].any() for span in spans]),
        )


def _window(start: int, stop: int) -> slice:
    """Rows start .. stop - 1, or where there are none, the row before."""
    return slice(min(start, max(stop - 1, 0)), max(stop, 1))


def _jitter(times: np.ndarray) -> float:
    """How far the rows are from an even clock at most, in rows."""
    return float(np.abs(times - np.linspace(times[0], times[-1], len(times))).max())
