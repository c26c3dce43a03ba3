"""The statistics that policies normalise with, exact over all rows.

LeRobot 0.6.1 merges quantiles of episodes by their weighted mean, which can be far off (q99 13.7 for a true 39.9);
pi0.5 normalises with them. Here every row and every pixel counts.
"""

from __future__ import annotations

import numpy as np

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}

_LEVELS = np.arange(256) / 255.0


def vector_stats(rows: np.ndarray) -> dict[str, np.ndarray]:
    """min, max, mean, std, count and quantiles of each dimension of (T,) or (T, D) numbers, as numpy gives them."""
    values = np.asarray(rows, np.float64).reshape(len(rows), -1)
    quantiles = np.quantile(values, list(QUANTILES.values()), axis=0)
    return {
        "min": values.min(0),
        "max": values.max(0),
        "mean": values.mean(0),
        "std": values.std(0),
        "count": np.array([len(values)]),
        **dict(zip(QUANTILES, quantiles, strict=True)),
    }


def pixel_histogram(frames: np.ndarray) -> np.ndarray:
    """How often each level occurs in each channel: (T, H, W, 3) uint8 -> (3, 256) int64."""
    return np.stack([np.bincount(frames[..., channel].ravel(), minlength=256) for channel in range(3)])


def image_stats(histogram: np.ndarray, num_frames: int) -> dict[str, np.ndarray]:
    """The same as `vector_stats` for each channel's pixels scaled to 0..1, each of shape (3, 1, 1) as in LeRobot.

    Args:
        histogram: (3, 256), the sum of `pixel_histogram` over all frames.
        num_frames: becomes `count`.
    """
    total = histogram.sum(1)
    mean = histogram @ _LEVELS / total
    variance = np.maximum(histogram @ _LEVELS**2 / total - mean**2, 0)
    stats = {
        "min": _quantile(histogram, 0.0),
        "max": _quantile(histogram, 1.0),
        "mean": mean,
        "std": np.sqrt(variance),
        **{name: _quantile(histogram, q) for name, q in QUANTILES.items()},
    }
    return {name: value.reshape(3, 1, 1) for name, value in stats.items()} | {"count": np.array([num_frames])}


def _quantile(histogram: np.ndarray, q: float) -> np.ndarray:
    """numpy's linear quantile of the pixels which a (3, 256) histogram counts, scaled to 0..1."""
    result = np.empty(3)
    for channel, counts in enumerate(histogram):
        position = q * (counts.sum() - 1)
        lower = int(position)
        # The pixel of rank k is the first level whose cumulative count exceeds k.
        ranks = [lower, min(lower + 1, int(counts.sum()) - 1)]
        low, high = _LEVELS[np.searchsorted(np.cumsum(counts), ranks, side="right")]
        result[channel] = low + (high - low) * (position - lower)
    return result
