"""The statistics that policies normalise with, exact over all rows.

LeRobot 0.6.1 merges quantiles of episodes by their weighted mean, which can be far off (q99 13.7 for a true 39.9);
pi0.5 normalises with them. Here every row and every pixel counts.
"""

from __future__ import annotations

import numpy as np

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}

_LEVELS = np.arange(256) / 255.0
_RADIX = 1 << 16


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
    from PIL import Image

    # As one tall picture: Pillow counts six times as fast as numpy.
    tall = Image.fromarray(np.ascontiguousarray(frames).reshape(-1, *frames.shape[2:]))
    return np.array(tall.histogram(), np.int64).reshape(3, 256)


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


class ColumnStats:
    """`vector_stats` of a column that is too long for memory, exact, from two passes over it.

    The first pass counts the upper 16 bits of each number, the second the lower 16 bits of those whose upper bits hold
    a quantile: a radix selection, which needs half a megabyte for each dimension however many rows there are.
    """

    def __init__(self, num_dims: int, dtype: np.dtype) -> None:
        self._dtype = dtype
        self._count = 0
        self._min, self._max = np.full(num_dims, np.inf), np.full(num_dims, -np.inf)
        self._mean, self._squares = np.zeros(num_dims), np.zeros(num_dims)
        self._upper = np.zeros((num_dims, _RADIX), np.int64)
        self._lower: list[dict[int, np.ndarray]] = []

    def add(self, rows: np.ndarray) -> None:
        """First pass: (T, D) float32, bool or whole numbers from 0 to 2^32 - 1, at least one row."""
        values = rows.astype(np.float64)
        self._min, self._max = np.minimum(self._min, values.min(0)), np.maximum(self._max, values.max(0))
        # Chan, Golub and LeVeque 1979: sums of squares about the mean, merged block by block.
        total, mean = self._count + len(rows), values.mean(0)
        step = mean - self._mean
        self._squares += ((values - mean) ** 2).sum(0) + step**2 * (self._count * len(rows) / total)
        self._mean += step * (len(rows) / total)
        self._count = total
        for counts, keys in zip(self._upper, _keys(rows).T, strict=True):
            counts += np.bincount(keys >> 16, minlength=_RADIX)

    def begin_second_pass(self) -> None:
        """Between the passes."""
        buckets = [np.unique(np.searchsorted(np.cumsum(counts), self._ranks(), "right")) for counts in self._upper]
        self._lower = [{int(bucket): np.zeros(_RADIX, np.int64) for bucket in found} for found in buckets]

    def add_again(self, rows: np.ndarray) -> None:
        """Second pass, over the same rows."""
        for lower, keys in zip(self._lower, _keys(rows).T, strict=True):
            for bucket, counts in lower.items():
                counts += np.bincount(keys[keys >> 16 == bucket] & 0xFFFF, minlength=_RADIX)

    def finish(self) -> dict[str, np.ndarray]:
        """The statistics, after both passes."""
        at_ranks = np.stack([self._select(dim) for dim in range(len(self._upper))], 1)
        low, high = _values(at_ranks.astype(np.uint32), self._dtype).astype(np.float64).reshape(2, len(QUANTILES), -1)
        part = (np.array(list(QUANTILES.values())) * (self._count - 1) % 1)[:, None]
        return {
            "min": self._min,
            "max": self._max,
            "mean": self._mean,
            "std": np.sqrt(self._squares / self._count),
            "count": np.array([self._count]),
            **dict(zip(QUANTILES, low + (high - low) * part, strict=True)),
        }

    def _ranks(self) -> np.ndarray:
        """The ranks below each quantile, then those above."""
        below = np.floor(np.array(list(QUANTILES.values())) * (self._count - 1)).astype(np.int64)
        return np.concatenate([below, np.minimum(below + 1, self._count - 1)])

    def _select(self, dim: int) -> np.ndarray:
        cumulative = np.cumsum(self._upper[dim])
        keys = []
        for rank in self._ranks():
            bucket = int(np.searchsorted(cumulative, rank, "right"))
            before = cumulative[bucket - 1] if bucket else 0
            keys.append(
                bucket << 16 | int(np.searchsorted(np.cumsum(self._lower[dim][bucket]), rank - before, "right"))
            )
        return np.array(keys)


def _keys(rows: np.ndarray) -> np.ndarray:
    """Unsigned 32-bit whole numbers in the order of the rows' numbers."""
    if rows.dtype.kind != "f":
        return rows.astype(np.uint32)
    bits = np.ascontiguousarray(rows, np.float32).view(np.uint32)
    return bits ^ np.where(bits >> 31, np.uint32(0xFFFFFFFF), np.uint32(0x80000000))


def _values(keys: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Inverse of `_keys`."""
    if dtype.kind != "f":
        return keys
    return (keys ^ np.where(keys >> 31, np.uint32(0x80000000), np.uint32(0xFFFFFFFF))).view(np.float32)
