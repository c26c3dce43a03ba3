"""Whether meta/stats.json is what the rows and frames come to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..lerobot_layout import STATS
from ..norm_stats import QUANTILES, image_stats
from .finding import Finding
from .manifest import Manifest
from .pixels import look_swapped, swapped_message
from .running_stats import RunningStats

_REPAIR = "--repair computes it anew"

#: How far a moment may be off, and a quantile, as a share of the column's range: LeRobot takes its quantiles from
#: histograms of 5,000 bins.
_TOLERANCE = 1e-4
_QUANTILE_TOLERANCE = 1e-3
#: How far the mean of a channel, in 0..1, may be off where LeRobot took it of some frames, or a codec changed them.
_IMAGE_TOLERANCE = 0.05


def running_stats(manifest: Manifest) -> dict[str, RunningStats]:
    """For each numeric column, what is to be fed with its rows; it knows the quantiles that are claimed."""
    found = {}
    for name, feature in manifest.features.items():
        if str(feature["dtype"]).startswith(("float", "int", "uint", "bool")):
            width = int(np.prod(feature["shape"]))
            claims = _claims(manifest.stats.get(name), width)
            spread = np.abs(claims.get("max", np.ones(width)) - claims.get("min", np.zeros(width)))
            quantiles = {name: claims[name] for name in QUANTILES if name in claims}
            found[name] = RunningStats(quantiles, np.nan_to_num(_QUANTILE_TOLERANCE * spread + 1e-6))
    return found


def check_stats(manifest: Manifest, stats: Mapping[str, RunningStats]) -> Iterator[Finding]:
    """Compare the moments and quantiles of each column with what its rows came to."""
    for name, running in stats.items():
        if running.count == 0 or not np.isfinite(running.mean).all():
            continue
        claims = _claims(manifest.stats.get(name), running.num_dims)
        if "mean" not in claims:
            yield _missing(name)
            continue
        if manifest.sidecar is not None and (lost := sorted(QUANTILES.keys() - claims.keys())):
            message = f"{STATS} has no {', '.join(lost)} of it; {_REPAIR}"
            yield Finding(field=name, message=message, severity="warning", mend="stats")
        wrong = list(_moments(name, claims, running))
        yield from wrong or _quantiles(name, claims, running)


def left_open() -> Finding:
    """For a store that was killed, or is still recorded into: all is there, but the statistics are not of all of it."""
    message = f"{STATS} is not of all rows, the store was not closed; open and close it, or {_REPAIR}"
    return Finding(field=STATS, message=message, severity="warning", mend="stats")


def check_image_stats(manifest: Manifest, key: str, histogram: np.ndarray) -> Iterator[Finding]:
    """Compare the statistics of a camera with what its frames came to; in detail only where frames are lossless."""
    if histogram.sum() == 0:
        return
    claims, found = _claims(manifest.stats.get(key), 3), image_stats(histogram, 0)
    mean, claim = found["mean"].ravel(), claims.get("mean")
    if claim is None:
        yield _missing(key)
    elif np.abs(claim - mean).max() > _IMAGE_TOLERANCE and look_swapped(mean, claim):
        yield Finding(field=key, message=swapped_message(mean, claim))
    else:
        yield from _image_moments(manifest, key, claims, found)


def _image_moments(
    manifest: Manifest, key: str, claims: Mapping[str, np.ndarray], found: Mapping[str, np.ndarray]
) -> Iterator[Finding]:
    # A codec evens out noise, so that of lossy frames the mean alone can be compared.
    exact = manifest.lossless
    tolerance = 1e-4 if exact else _IMAGE_TOLERANCE
    for name in ("mean", "std", "min", "max", *QUANTILES) if exact else ("mean",):
        value = found[name].ravel()
        if name not in claims or not (np.abs(claims[name] - value) <= tolerance).all():
            message = f"{STATS} says {name} {_short(claims.get(name))}, the frames say {_short(value)}; {_REPAIR}"
            yield Finding(field=key, message=message, severity="warning", mend="stats")
            return


def _missing(name: str) -> Finding:
    message = f"{STATS} has no statistics of it, which policies normalise with; {_REPAIR}"
    return Finding(field=name, message=message, severity="warning", mend="stats")


def _claims(entry: Any, width: int) -> dict[str, np.ndarray]:
    """What meta/stats.json says of a column, as (width,) numbers; what has another shape is left out."""
    found = {}
    for name, value in entry.items() if isinstance(entry, dict) else ():
        try:
            flat = np.ravel(np.asarray(value, np.float64))
        except (TypeError, ValueError):
            continue
        if len(flat) == (1 if name == "count" else width):
            found[name] = flat
    return found


def _moments(name: str, claims: Mapping[str, np.ndarray], running: RunningStats) -> Iterator[Finding]:
    scale = np.maximum(np.maximum(np.abs(running.min), np.abs(running.max)), 1e-2)
    for moment in ("count", "min", "max", "mean", "std"):
        value = np.atleast_1d(np.asarray(getattr(running, moment), np.float64))
        claim = claims.get(moment)
        if claim is None or not (np.abs(claim - value) <= (0 if moment == "count" else _TOLERANCE * scale)).all():
            message = f"{STATS} says {moment} {_short(claim)}, the rows say {_short(value)}; {_REPAIR}"
            yield Finding(field=name, message=message, mend="stats")
            return


def _quantiles(name: str, claims: Mapping[str, np.ndarray], running: RunningStats) -> Iterator[Finding]:
    for quantile, dim in running.wrong_quantiles().items():
        message = f"{STATS} says {quantile} {claims[quantile][dim]:g}, which is no such quantile of the rows"
        remedy = f"LeRobot averages those of the episodes, {_REPAIR}"
        yield Finding(field=name, message=f"{message}; {remedy}", severity="warning", mend="stats")
        return


def _short(values: np.ndarray | None) -> str:
    if values is None:
        return "nothing"
    shown = ", ".join(f"{value:g}" for value in values[:4])
    return f"{shown}, ..." if len(values) > 4 else shown
