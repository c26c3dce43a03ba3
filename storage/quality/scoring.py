"""Scoring the episodes of a dataset; no frame is read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns import ACTION, SCORE, STATE, TRUST
from ..content import stamp
from ..dataset import EpisodeReader
from ..progress import Progress, silent
from ..spec import EpisodeSpec
from .duplicates import Nearest, nearest_other, resample
from .motion import idle_ends, jerk, normalised, path_efficiency, saturation, speed
from .starts import start_cells
from .table import EpisodeQuality, QualitySettings, QualityTable, read_quality

_DEFAULT = QualitySettings()


def quality_of(
    reader: EpisodeReader, progress: Progress = silent, settings: QualitySettings = _DEFAULT
) -> QualityTable:
    """The scores kept with a dataset if they are of its present content and these settings, else new ones.

    Nothing is written; `write_quality` keeps the table.
    """
    kept = read_quality(reader.path)
    if kept is not None and kept.settings == settings and kept.stamp == stamp(reader):
        return kept
    return score_dataset(reader, progress, settings)


def score_dataset(
    reader: EpisodeReader,
    progress: Progress = silent,
    settings: QualitySettings = _DEFAULT,
    ids: Collection[str] | None = None,
) -> QualityTable:
    """Score each episode by itself, and against the others.

    Args:
        reader: the dataset; what is kept of an episode meanwhile does not depend on its length.
        progress: told after each episode.
        settings: what counts as idle, as saturated and as the same.
        ids: score only these, among themselves.

    Raises:
        StoreError: an episode is damaged.
    """
    mark = stamp(reader)
    chosen = [id for id in reader.ids() if ids is None or id in ids]
    measured = []
    for number, id in enumerate(chosen, start=1):
        measured.append(_measure(reader.columns(id), reader.spec, settings))
        progress(number, len(chosen), id)
    return _among(chosen, measured, reader.spec, mark, settings)


@dataclass(frozen=True)
class _Measured:
    """One episode's own scores, its path at some moments and its first state."""

    scores: dict[str, Any]
    path: np.ndarray
    start: np.ndarray


def _measure(columns: dict[str, np.ndarray], spec: EpisodeSpec, settings: QualitySettings) -> _Measured:
    state, action = normalised(columns[STATE], spec.state), normalised(columns[ACTION], spec.action)
    both = np.hstack([state, action])
    idle = speed(both, spec.fps) < settings.idle_speed
    jerks = jerk(state, spec.fps)
    start, end = idle_ends(idle)
    scores = {
        "length": len(state),
        "duration_s": len(state) / spec.fps,
        "path_efficiency": path_efficiency(state),
        "jerk_mean": float(jerks.mean()),
        "jerk_p95": float(np.quantile(jerks, 0.95)),
        "idle_share": float(idle.mean()) if len(idle) else 0.0,
        "idle_start": start,
        "idle_end": end,
        "action_saturation": saturation(columns[ACTION], spec.action, settings.saturation_margin),
        "score_mean": float(columns[SCORE].mean()),
        "trust_mean": float(columns[TRUST].mean()),
    }
    return _Measured(scores, resample(both, settings.num_points), columns[STATE][0])


def _among(
    ids: list[str], measured: list[_Measured], spec: EpisodeSpec, mark: str, settings: QualitySettings
) -> QualityTable:
    if not ids:
        return QualityTable(mark, (), 0.0, {}, settings)
    paths = np.stack([one.path for one in measured])
    nearest, earlier = nearest_other(paths), nearest_other(paths, earlier=True)
    cells = start_cells(np.stack([one.start for one in measured]), spec.state, settings.num_cells)
    episodes = {
        id: EpisodeQuality(
            **measured[number].scores,
            nearest_distance=float(nearest.distance[number]),
            nearest_id=_name(nearest, number, ids),
            earlier_distance=float(earlier.distance[number]),
            start_share=float(cells.share[number]),
        )
        for number, id in enumerate(ids)
    }
    return QualityTable(mark, cells.dimensions, cells.coverage, episodes, settings)


def _name(nearest: Nearest, number: int, ids: list[str]) -> str:
    other = int(nearest.number[number])
    return ids[other] if other >= 0 else ""
