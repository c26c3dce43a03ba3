"""What an episode and a spec must hold before they are stored."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, get_args

import numpy as np

from .columns import ACTION, STATE, TRUTHS, columns_of, frames_of, image_key, label_key
from .episode import Episode, Outcome, Rows
from .errors import ConfigError, InvalidEpisode
from .spec import Camera, EpisodeSpec, Vector

_SAFE_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
#: What the clocks of video files can tell apart.
_MAX_FPS = 100_000
_UNIT = Vector(("",), (0.0,), (1.0,))


def validate_episode(episode: Episode, spec: EpisodeSpec) -> None:
    """Check that an episode can be stored, learned from and played back under `spec`.

    Raises:
        InvalidEpisode: naming the episode, the field and, where one is at fault, the step.
    """
    validate_identity(episode.id, episode.index, episode.seed, episode.task)
    validate_rows(episode.id, episode, spec)
    validate_ending(episode.id, len(episode), episode.outcome, episode.reason, episode.lineage)


def validate_identity(id: str, index: int, seed: int, task: str) -> None:
    """Check what is known of an episode before its first row; InvalidEpisode as in `validate_episode`."""
    _refuse(id, _identity_problems(id, index, seed, task))


def validate_rows(id: str, rows: Rows, spec: EpisodeSpec, start: int = 0) -> None:
    """Check rows start, start + 1, ... of an episode; InvalidEpisode as in `validate_episode`."""
    _refuse(id, row_problems(rows, spec, start))


def validate_ending(id: str, length: int, outcome: str, reason: str, lineage: Mapping[str, Any]) -> None:
    """Check what is known of an episode after its last row; InvalidEpisode as in `validate_episode`."""
    _refuse(id, _ending_problems(length, outcome, reason, lineage))


def _refuse(id: str, problems: Iterator[str]) -> None:
    for problem in problems:
        raise InvalidEpisode(f"episode {id!r}: {problem}")


def validate_spec(spec: EpisodeSpec) -> None:
    """Check that both formats can hold what `spec` describes.

    Raises:
        ConfigError: naming the field and the value it has.
    """
    for problem in _spec_problems(spec):
        raise ConfigError(f"episode spec: {problem}")


def row_problems(rows: Rows, spec: EpisodeSpec, start: int = 0) -> Iterator[str]:
    """Yield a sentence for each way in which rows start, start + 1, ... of an episode break the spec."""
    for problem in _unlike_rows(rows, spec):
        yield problem
        return  # Shapes of anything else cannot be told.
    yield from _missing("camera", rows.images, [camera.name for camera in spec.cameras])
    for camera in spec.cameras:
        yield from _image_problems(rows.images[camera.name], camera, len(rows))
    yield from _missing("label", rows.labels, spec.labels)
    yield from _intervention_problems(rows, spec)
    for name, values in columns_of(rows).items():
        yield from _column_problems(name, values, _vector_of(name, spec), len(rows), start)
    yield from _bound_problems("action", rows.action, spec.action, start)
    for name in ("score", "trust"):
        yield from _bound_problems(name, getattr(rows, name)[:, None], _UNIT, start)


def _unlike_rows(rows: Rows, spec: EpisodeSpec) -> Iterator[str]:
    """What is no array, and an action without the axis by which rows are counted."""
    for name, values in {**columns_of(rows), **frames_of(rows)}.items():
        if not isinstance(values, np.ndarray):
            yield f"{name} must be a numpy array with a value for each row, got {type(values).__name__}"
    if np.ndim(rows.action) != 2:
        yield (
            f"action needs shape (rows, {spec.action.size}), got {np.shape(rows.action)}; "
            "every array begins with the axis of rows, also for one: `action[None]`"
        )


def _identity_problems(id: str, index: int, seed: int, task: str) -> Iterator[str]:
    if not isinstance(id, str) or not _SAFE_ID.fullmatch(id):
        yield "its id must be safe as a file name: letters, digits, '_', '-' and '.', at most 200 of them"
    for name, value in (("index", index), ("seed", seed)):
        if not isinstance(value, int) or value < 0:
            yield f"{name} must be an int of 0 or more, got {value!r}"
    if not _is_text(task):
        yield f"task must be text, got {task!r}"


def _ending_problems(length: int, outcome: str, reason: str, lineage: Mapping[str, Any]) -> Iterator[str]:
    if length == 0:
        yield "it has no rows; store episodes of one row or more"
    if outcome not in get_args(Outcome):
        yield f"outcome must be one of {', '.join(get_args(Outcome))}, got {outcome!r}"
    if not _is_text(reason):
        yield f"reason must be text, got {reason!r}"
    if (outcome == "success") != (reason == ""):
        yield f"a reason is needed for every outcome but success, got {reason!r} for {outcome!r}"
    try:
        json.dumps(dict(lineage), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        yield f"lineage must be plain data that JSON can hold ({error})"


def _is_text(value: object) -> bool:
    """Whether UTF-8, which both formats keep texts in, can hold it: not half of a pair of surrogates."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def _missing(kind: str, found: Collection[str], expected: Collection[str]) -> Iterator[str]:
    if set(found) != set(expected):
        yield f"expected the {kind}s {sorted(expected)}, got {sorted(found)}"


def _intervention_problems(rows: Rows, spec: EpisodeSpec) -> Iterator[str]:
    if spec.intervention and rows.intervention is None:
        yield "its rows do not say who drove; give `intervention`, a bool for each row"
    if not spec.intervention and rows.intervention is not None:
        yield "its rows say who drove, which this dataset does not keep; create one whose spec has `intervention=True`"


def _image_problems(frames: np.ndarray, camera: Camera, length: int) -> Iterator[str]:
    expected = (length, camera.height, camera.width, 3)
    if frames.dtype == np.uint8 and frames.shape == expected:
        return
    hint = ""
    if frames.shape == (length, 3, camera.height, camera.width):
        hint = "; these are channels first, move the channel axis to the end"
    elif frames.dtype.kind == "f":
        hint = "; scale floats to 0..255 and round them"
    yield (
        f"camera {camera.name!r} needs RGB frames of shape {expected} (rows, height, width, channels) and dtype "
        f"uint8, got {frames.shape} {frames.dtype}{hint}"
    )


def _vector_of(name: str, spec: EpisodeSpec) -> Vector | None:
    vectors = {STATE: spec.state, ACTION: spec.action}
    vectors |= {label_key(label): vector for label, vector in spec.labels.items()}
    return vectors.get(name)


def _column_problems(name: str, values: np.ndarray, vector: Vector | None, length: int, start: int) -> Iterator[str]:
    shape = (length,) if vector is None else (length, vector.size)
    dtype = np.dtype(bool if name in TRUTHS else np.float32)
    if values.shape != shape or values.dtype != dtype:
        yield f"{name} needs shape {shape} and dtype {dtype}, got {values.shape} {values.dtype}"
    finite = np.isfinite(values)
    if not finite.all():
        unfit = np.argwhere(~finite)
        step, where = start + int(unfit[0][0]), _dimension(vector, unfit[0])
        yield f"{name}{where} is {values[tuple(unfit[0])]} at step {step}; every number must be finite"


def _bound_problems(name: str, values: np.ndarray, vector: Vector, start: int) -> Iterator[str]:
    # In float32, or a bound such as 0.1 would refuse a float32 value clipped to it.
    low, high = np.asarray([vector.low, vector.high], np.float32)
    outside = (values < low) | (values > high)
    if outside.any():
        step, dim = map(int, np.argwhere(outside)[0])
        where = "" if vector is _UNIT else f" {vector.names[dim]!r}"
        yield (
            f"{name}{where} is {values[step, dim]} at step {start + step}, outside "
            f"{vector.low[dim]} .. {vector.high[dim]}; clip it before it is stored"
        )


def _dimension(vector: Vector | None, position: np.ndarray) -> str:
    return "" if vector is None else f" {vector.names[int(position[1])]!r}"


def _spec_problems(spec: EpisodeSpec) -> Iterator[str]:
    if not isinstance(spec.fps, int) or not 1 <= spec.fps <= _MAX_FPS:
        yield f"fps must be a whole number from 1 to {_MAX_FPS}, got {spec.fps!r}"
    if not isinstance(spec.intervention, bool):
        yield f"intervention must be true or false, got {spec.intervention!r}"
    names = [camera.name for camera in spec.cameras]
    if len(set(names)) != len(names):
        yield f"no two cameras may have one name, got {names}"
    for camera in spec.cameras:
        if camera.height < 1 or camera.width < 1:
            yield f"camera {camera.name!r} must be at least 1 x 1, got {camera.height} x {camera.width}"
    for name in (*names, *spec.labels):
        fits = _is_text(name) and name and len(image_key(name).encode()) <= 200
        if not fits or any(ord(character) < 32 for character in name):
            yield f"a name of a camera or label needs 1 to 180 bytes and no control characters, got {name!r}"
    for name in spec.labels:
        if "image" in name:
            yield f"a label must not have 'image' in its name (LeRobot takes it for a camera), got {name!r}"
    yield from _vector_problems({"state": spec.state, "action": spec.action, **spec.labels})


def _vector_problems(vectors: Mapping[str, Vector]) -> Iterator[str]:
    for name, vector in vectors.items():
        if not all(map(_is_text, vector.names)):
            yield f"the dimensions of {name} need texts for names, got {vector.names}"
        if vector.size == 0:
            yield f"{name} needs at least one dimension"
        for dimension, low, high in zip(vector.names, vector.low, vector.high, strict=True):
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                yield f"{name} {dimension!r} needs finite bounds, low not above high, got {low} .. {high}"
