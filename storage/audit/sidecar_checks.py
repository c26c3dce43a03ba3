"""Whether demoloom's sidecar and the LeRobot dataset that it lies in say the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from tokenize import TokenError

import numpy as np

from .. import lerobot_layout as layout
from ..columns import image_key
from ..errors import InvalidEpisode
from ..validation import validate_ending, validate_identity
from .finding import Finding, Mend
from .manifest import Manifest, Record
from .row_checks import REPLACE
from .sidecar import FOLDER, Sidecar

_EDITED = f"another tool edited the dataset, delete {FOLDER} to read it as a plain LeRobot dataset"


def check_sidecar(manifest: Manifest, sidecar: Sidecar) -> Iterator[Finding]:
    """Yield all that disagrees, without reading a row."""
    for record in manifest.records:
        yield from _check_summary(record, sidecar)
    for id, count in Counter(record.id for record in manifest.records).items():
        if count > 1:
            yield Finding(field="id", message=f"{count} episodes have this id; give each its own", episode=id)
    if sidecar.spec is not None and sidecar.spec.fps != manifest.fps:
        message = f"fps is {sidecar.spec.fps} in {layout.SIDECAR_SPEC} and {manifest.fps} in {layout.INFO}"
        yield Finding(field="fps", message=f"{message}; correct the one that is wrong")
    yield from _check_features(manifest, sidecar)


def read_counted_pixels(manifest: Manifest) -> np.ndarray | Exception:
    """The pixels that the writer counted, (cameras, 3, 256), or why they cannot be read."""
    try:
        return np.asarray(np.load(manifest.path / _pixels_file(manifest)))
    except (OSError, ValueError, EOFError, SyntaxError, TokenError) as error:
        return error


def check_counted_pixels(
    manifest: Manifest, counted: np.ndarray | Exception, histograms: Mapping[str, np.ndarray]
) -> Iterator[Finding]:
    """Compare the pixels that the writer counted, from which it goes on counting, with those of all frames.

    Args:
        counted: as `read_counted_pixels` gives them.
        histograms: key of each camera -> (3, 256), how often each level occurs in the decoded frames.
    """
    sidecar = manifest.sidecar
    if sidecar is None or sidecar.spec is None:
        return
    file = _pixels_file(manifest)
    keys = [image_key(camera.name) for camera in sidecar.spec.cameras]
    if not histograms.keys() >= set(keys):
        return
    found = np.array([histograms[key] for key in keys], np.int64).reshape(-1, 3, 256)
    mend: Mend | None = "pixels" if sidecar.lossless else None
    remedy = "--repair counts them anew" if mend else "nothing can be added, `demoloom convert` the dataset anew"
    if isinstance(counted, Exception):
        yield Finding(field=file, message=f"it cannot be read ({counted}); {remedy}", severity="warning", mend=mend)
        return
    same = counted.shape == found.shape and (counted.sum(2) == found.sum(2)).all()
    if not same or (sidecar.lossless and (counted != found).any()):
        yield Finding(field=file, message=f"it is not what the frames come to; {remedy}", severity="warning", mend=mend)


def _pixels_file(manifest: Manifest) -> str:
    return layout.SIDECAR_PIXELS.format(num_rows=sum(record.length for record in manifest.records))


def _check_summary(record: Record, sidecar: Sidecar) -> Iterator[Finding]:
    field, summary = layout.SIDECAR_EPISODES, sidecar.summaries.get(record.id)
    if summary is None:
        yield Finding(field=field, message=f"it has no summary; {_EDITED}", episode=record.id)
        return
    if summary.length != record.length:
        message = f"its summary has length {summary.length}, its record {record.length}; {_EDITED}"
        yield Finding(field=field, message=message, episode=record.id)
    try:
        validate_identity(summary.id, summary.index, summary.seed, summary.task)
        validate_ending(summary.id, summary.length, summary.outcome, summary.reason, summary.lineage)
    except (InvalidEpisode, TypeError, ValueError) as error:
        yield Finding(field="summary", message=f"{error}; {REPLACE}", episode=record.id)


def _check_features(manifest: Manifest, sidecar: Sidecar) -> Iterator[Finding]:
    if sidecar.spec is None or sidecar.codec is None:
        return
    for name, due in layout.features(sidecar.spec, sidecar.codec).items():
        if (found := manifest.features.get(name)) is None:
            yield Finding(field=name, message=f"{layout.INFO} does not declare it; {_EDITED}")
            continue
        for key in ("dtype", "shape", "names"):
            if found.get(key) != due[key]:
                what = f"its {key} is {found.get(key)!r} in {layout.INFO} and {due[key]!r} in {layout.SIDECAR_SPEC}"
                yield Finding(field=name, message=f"{what}; --repair corrects the former", mend="info")
                break
