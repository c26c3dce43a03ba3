"""What an episode and a spec must hold before they are stored."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import get_args

import numpy as np

from .columns import LABEL_PREFIX, columns_of
from .episode import Episode, Outcome
from .errors import ConfigError, InvalidEpisode
from .spec import Camera, EpisodeSpec, Vector

_SAFE_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")


def validate_episode(episode: Episode, spec: EpisodeSpec) -> None:
    """Check that an episode can be stored, learned from and played back under `spec`.

    Raises:
        InvalidEpisode: naming the episode, the field and, where one is at fault, the step.
    """
    for problem in _problems(episode, spec):
        raise InvalidEpisode(f"episode {episode.id!r}: {problem}")


def validate_spec(spec: EpisodeSpec) -> None:
    """Check that both formats can hold what `spec` describes.

    Raises:
        ConfigError: naming the field and the value it has.
    """
    for problem in _spec_problems(spec):
        raise ConfigError(f"episode spec: {problem}")


def _problems(episode: Episode, spec: EpisodeSpec) -> Iterator[str]:
    yield from _identity_problems(episode)
    if len(episode) == 0:
        yield "it has no rows; store episodes of one row or more"
    yield from _missing("camera", episode.images, [camera.name for camera in spec.cameras])
    for camera in spec.cameras:
        yield from _image_problems(episode.images[camera.name], camera, len(episode))
    yield from _missing("label", episode.labels, spec.labels)
    for name, values in columns_of(episode).items():
        yield from _column_problems(name, values, _vector_of(name, spec), len(episode))
    yield from _bound_problems("action", episode.action, np.asarray([spec.action.low, spec.action.high]), spec.action)
    for name in ("score", "trust"):
        yield from _bound_problems(name, getattr(episode, name)[:, None], np.asarray([[0.0], [1.0]]), None)


def _identity_problems(episode: Episode) -> Iterator[str]:
    if not _SAFE_ID.fullmatch(episode.id):
        yield "its id must be safe as a file name: letters, digits, '_', '-' and '.', at most 200 of them"
    for name in ("index", "seed"):
        value = getattr(episode, name)
        if not isinstance(value, int) or value < 0:
            yield f"{name} must be an int of 0 or more, got {value!r}"
    if not isinstance(episode.task, str):
        yield f"task must be text, got {episode.task!r}"
    if episode.outcome not in get_args(Outcome):
        yield f"outcome must be one of {', '.join(get_args(Outcome))}, got {episode.outcome!r}"
    if (episode.outcome == "success") != (episode.reason == ""):
        yield f"a reason is needed for every outcome but success, got {episode.reason!r} for {episode.outcome!r}"
    try:
        json.dumps(dict(episode.lineage), allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"lineage must be plain data that JSON can hold ({error})"


def _missing(kind: str, found: Collection[str], expected: Collection[str]) -> Iterator[str]:
    if set(found) != set(expected):
        yield f"expected the {kind}s {sorted(expected)}, got {sorted(found)}"


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
    vectors = {"observation.state": spec.state, "action": spec.action}
    vectors |= {LABEL_PREFIX + label: vector for label, vector in spec.labels.items()}
    return vectors.get(name)


def _column_problems(name: str, values: np.ndarray, vector: Vector | None, length: int) -> Iterator[str]:
    shape = (length,) if vector is None else (length, vector.size)
    dtype = np.dtype(bool if name == "next.success" else np.float32)
    if values.shape != shape or values.dtype != dtype:
        yield f"{name} needs shape {shape} and dtype {dtype}, got {values.shape} {values.dtype}"
    unfit = np.argwhere(~np.isfinite(values))
    if len(unfit):
        step, where = int(unfit[0][0]), _dimension(vector, unfit[0])
        yield f"{name}{where} is {values[tuple(unfit[0])]} at step {step}; every number must be finite"


def _bound_problems(name: str, values: np.ndarray, bounds: np.ndarray, vector: Vector | None) -> Iterator[str]:
    # In float32, or a bound such as 0.1 would refuse a float32 value clipped to it.
    low, high = bounds.astype(np.float32)
    outside = np.argwhere((values < low) | (values > high))
    if len(outside):
        step, dim = map(int, outside[0])
        yield (
            f"{name}{_dimension(vector, outside[0])} is {values[step, dim]} at step {step}, outside "
            f"{bounds[0, dim]} .. {bounds[1, dim]}; clip it before it is stored"
        )


def _dimension(vector: Vector | None, position: np.ndarray) -> str:
    return "" if vector is None else f" {vector.names[int(position[1])]!r}"


def _spec_problems(spec: EpisodeSpec) -> Iterator[str]:
    if not isinstance(spec.fps, int) or spec.fps < 1:
        yield f"fps must be a whole number of 1 or more, got {spec.fps!r}"
    names = [camera.name for camera in spec.cameras]
    if not names or len(set(names)) != len(names):
        yield f"at least one camera is needed and no name twice, got {names}"
    for camera in spec.cameras:
        if camera.height < 1 or camera.width < 1:
            yield f"camera {camera.name!r} must be at least 1 x 1, got {camera.height} x {camera.width}"
    for name in (*names, *spec.labels):
        if not name or "/" in name:
            yield f"names of cameras and labels must not be empty or hold '/', got {name!r}"
    for name in spec.labels:
        if "image" in name:
            yield f"a label must not have 'image' in its name (LeRobot takes it for a camera), got {name!r}"
    yield from _vector_problems({"state": spec.state, "action": spec.action, **spec.labels})


def _vector_problems(vectors: Mapping[str, Vector]) -> Iterator[str]:
    for name, vector in vectors.items():
        if vector.size == 0:
            yield f"{name} needs at least one dimension"
        for dimension, low, high in zip(vector.names, vector.low, vector.high, strict=True):
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                yield f"{name} {dimension!r} needs finite bounds, low not above high, got {low} .. {high}"
