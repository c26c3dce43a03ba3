"""The columns of an episode under LeRobot's names, shared by both formats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from .episode import Episode, EpisodeSummary, Rows
from .spec import EpisodeSpec

STATE = "observation.state"
ACTION = "action"
REWARD = "next.reward"
SUCCESS = "next.success"
SCORE = "next.score"
TRUST = "wm.trust"
INTERVENTION = "intervention"
#: The columns of truths; all others hold float32.
TRUTHS = frozenset({SUCCESS, INTERVENTION})
IMAGE_PREFIX = "observation.images."
# Not `observation.` or `action`: LeRobot makes policy inputs and outputs of every column under these.
LABEL_PREFIX = "label."


def image_key(camera: str) -> str:
    """The column of a camera's frames."""
    return IMAGE_PREFIX + _escaped(camera)


def label_key(label: str) -> str:
    """The column of a label."""
    return LABEL_PREFIX + _escaped(label)


def name_in(key: str) -> str:
    """The camera or label whose column `key` is; inverse of `image_key` and `label_key`."""
    name = key.removeprefix(IMAGE_PREFIX).removeprefix(LABEL_PREFIX)
    return name.replace("%2F", "/").replace("%25", "%")


def _escaped(name: str) -> str:
    # Columns become folders, and LeRobot takes no '/' in a name.
    return name.replace("%", "%25").replace("/", "%2F")


def columns_of(rows: Rows) -> dict[str, np.ndarray]:
    """All but the frames: name -> (T,) or (T, size)."""
    return {
        STATE: rows.state,
        ACTION: rows.action,
        REWARD: rows.reward,
        SUCCESS: rows.success,
        SCORE: rows.score,
        TRUST: rows.trust,
        **({} if rows.intervention is None else {INTERVENTION: rows.intervention}),
        **{label_key(name): values for name, values in rows.labels.items()},
    }


def frames_of(rows: Rows) -> dict[str, np.ndarray]:
    """The frames: name -> (T, H, W, 3) uint8 RGB."""
    return {image_key(name): frames for name, frames in rows.images.items()}


def names_of(spec: EpisodeSpec) -> dict[str, tuple[str, ...]]:
    """The names of the dimensions of each column, in the order of `columns_of`; a (T,) column has its own name."""
    return {
        STATE: spec.state.names,
        ACTION: spec.action.names,
        **{name: (name,) for name in (REWARD, SUCCESS, SCORE, TRUST)},
        **({INTERVENTION: (INTERVENTION,)} if spec.intervention else {}),
        **{label_key(name): vector.names for name, vector in spec.labels.items()},
    }


def pack(columns: Mapping[str, np.ndarray], spec: EpisodeSpec) -> np.ndarray:
    """All columns side by side, (T, D) float32, in the order of `names_of`."""
    length = len(columns[ACTION])
    return np.hstack([columns[name].reshape(length, -1).astype(np.float32) for name in names_of(spec)])


def unpack(table: np.ndarray, spec: EpisodeSpec) -> dict[str, np.ndarray]:
    """Inverse of `pack`."""
    columns: dict[str, np.ndarray] = {}
    start = 0
    for name, dimensions in names_of(spec).items():
        part = table[:, start : start + len(dimensions)]
        start += len(dimensions)
        columns[name] = np.ascontiguousarray(part if name in _vectors(spec) else part[:, 0])
    return {name: values.astype(bool) if name in TRUTHS else values for name, values in columns.items()}


def _vectors(spec: EpisodeSpec) -> set[str]:
    return {STATE, ACTION} | {label_key(name) for name in spec.labels}


def rows_of(spec: EpisodeSpec, frames: Mapping[str, np.ndarray], columns: Mapping[str, np.ndarray]) -> Rows:
    """Put rows together again; inverse of `frames_of` and `columns_of`."""
    return Rows(
        images={camera.name: frames[image_key(camera.name)] for camera in spec.cameras},
        state=columns[STATE],
        action=columns[ACTION],
        reward=columns[REWARD],
        success=columns[SUCCESS],
        score=columns[SCORE],
        trust=columns[TRUST],
        labels={name: columns[label_key(name)] for name in spec.labels},
        intervention=columns[INTERVENTION] if spec.intervention else None,
    )


def episode_of(summary: EpisodeSummary, rows: Rows) -> Episode:
    """Put an episode together again; inverse of `summarise`."""
    return Episode(
        id=summary.id,
        index=summary.index,
        seed=summary.seed,
        task=summary.task,
        outcome=summary.outcome,
        reason=summary.reason,
        lineage=summary.lineage,
        **{field.name: getattr(rows, field.name) for field in fields(Rows)},
    )
