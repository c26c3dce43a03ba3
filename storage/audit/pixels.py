"""What the frames of one camera look like, and whether their channels are those that the statistics were made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from ..norm_stats import pixel_histogram
from .finding import Finding, Severity
from .manifest import RESTORE, Manifest

_LEVELS = np.arange(256) / 255.0

#: How far the mean of a channel, in 0..1, may be from the recorded one: exact where frames are lossless; else a codec
#: shifts it a little, and LeRobot takes it of every few frames only.
_LOSSLESS_TOLERANCE = 1e-3
_TOLERANCE = 0.05


class Pixels:
    """How often each level occurs in each channel, of each episode and of all."""

    def __init__(self) -> None:
        self._histograms: dict[int, np.ndarray] = defaultdict(lambda: np.zeros((3, 256), np.int64))

    def add(self, number: int, frame: np.ndarray) -> None:
        """Count a frame (H, W, 3) uint8 of an episode."""
        self._histograms[number] += pixel_histogram(frame[None])

    def forget(self, number: int) -> None:
        """Leave out an episode of which frames are missing."""
        self._histograms.pop(number, None)

    def means(self, number: int) -> np.ndarray | None:
        """(3,) mean of each channel of an episode, in 0..1; None if no frame of it was seen."""
        found = self._histograms.get(number)
        return None if found is None else np.asarray(found @ _LEVELS / found.sum(1))

    def total(self) -> np.ndarray:
        """(3, 256) over all episodes."""
        return np.asarray(sum(self._histograms.values(), np.zeros((3, 256), np.int64)))


def check_channels(manifest: Manifest, key: str, pixels: Pixels) -> Iterator[Finding]:
    """Compare each episode's channel means with those recorded with it in meta/episodes.

    Where red and blue fit the other way round, the frames are taken for BGR. That is a guess: it says nothing of
    greyish frames, nor where the statistics were made of the swapped frames too.
    """
    tolerance = _LOSSLESS_TOLERANCE if manifest.lossless else _TOLERANCE
    for record in manifest.records:
        means, recorded = pixels.means(record.number), record.image_means.get(key)
        if means is None or recorded is None or (np.abs(means - recorded) <= tolerance).all():
            continue
        if look_swapped(means, recorded):
            yield Finding(field=key, message=swapped_message(means, recorded), episode=record.id)
        else:
            what = f"frames are not those recorded: {_three(means)} on average, recorded as {_three(recorded)}"
            severity: Severity = "error" if manifest.lossless else "warning"
            yield Finding(field=key, message=f"{what}; {RESTORE}", episode=record.id, severity=severity)


def look_swapped(means: np.ndarray, recorded: np.ndarray) -> bool:
    """Whether the means (3,) of the channels fit far better the other way round."""
    return bool(np.abs(means[::-1] - recorded).max() < np.abs(means - recorded).max() / 4)


def swapped_message(means: np.ndarray, recorded: np.ndarray) -> str:
    """What to say then."""
    what = f"red and blue look swapped (BGR): {_three(means)} on average, recorded as {_three(recorded)}"
    return f"{what}; swap the channels back and record anew"


def _three(means: np.ndarray) -> str:
    return "RGB " + " ".join(f"{255 * mean:.1f}" for mean in means)
