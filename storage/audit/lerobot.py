"""An audit of a LeRobot v3 dataset, demoloom's or someone else's: its metadata, files, rows, frames and statistics.

What a dataset does not say cannot be checked: one of someone else has no bounds of actions and no digests of episodes.
Digests are compared where frames are lossless: they are those of the frames before they were encoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np

from ..lerobot_store import at_rest
from ..progress import Progress
from .changes import check_digests
from .contents import Contents
from .files import check_files
from .finding import Finding
from .frames import FramePass
from .manifest import Manifest, read_manifest
from .pixels import check_channels
from .records import check_records
from .rows import RowPass
from .sidecar_checks import check_counted_pixels, check_sidecar, read_counted_pixels
from .stats import check_image_stats, check_stats, left_open, running_stats
from .tally import Tally


def audit_lerobot(path: Path, tally: Tally, progress: Progress, *, is_locked: bool = False) -> Iterator[Finding]:
    """Yield all that is wrong with the dataset at `path`; rows are read in blocks, frames one by one.

    Args:
        path: of the dataset.
        tally: told what was read.
        progress: told how far it is.
        is_locked: whether the caller keeps writers away; if not, they wait while metadata is read.
    """
    findings: list[Finding] = []
    # What one is about to count looks like what a killed one left.
    with nullcontext() if is_locked else at_rest(path):
        manifest = read_manifest(path, findings)
        if manifest is not None:
            findings += _audit_metadata(manifest)
            counted = read_counted_pixels(manifest)
    yield from findings
    if manifest is None:
        return
    tally.episodes = len(manifest.records)
    contents = Contents()
    yield from _audit_rows(manifest, contents, tally, progress)
    yield from _audit_frames(manifest, counted, contents, tally, progress)
    yield from tally.findings()
    yield from contents.identical()
    if manifest.sidecar is not None and manifest.lossless:
        yield from check_digests(manifest, manifest.sidecar, contents)


def _audit_metadata(manifest: Manifest) -> Iterator[Finding]:
    yield from check_records(manifest)
    if manifest.sidecar is not None:
        yield from check_sidecar(manifest, manifest.sidecar)
    yield from check_files(manifest)


def _audit_rows(manifest: Manifest, contents: Contents, tally: Tally, progress: Progress) -> Iterator[Finding]:
    stats = running_stats(manifest)
    rows = RowPass(manifest, stats, contents, tally)
    files = sorted({record.data_file for record in manifest.records if (manifest.path / record.data_file).is_file()})
    for number, file in enumerate(files):
        progress(number, len(files), file)
        yield from rows.read(file)
    yield from rows.count()
    if manifest.was_left_open:
        yield left_open()
    elif manifest.stats and rows.is_whole:
        yield from check_stats(manifest, stats)


def _audit_frames(
    manifest: Manifest, counted: np.ndarray | Exception, contents: Contents, tally: Tally, progress: Progress
) -> Iterator[Finding]:
    whole, histograms = True, {}
    for key in manifest.cameras("video") + manifest.cameras("image"):
        frames = FramePass(manifest, key, contents, tally)
        if manifest.features[key]["dtype"] == "image":
            yield from frames.read_images()
        else:
            files = frames.files()
            for number, (file, records) in enumerate(files.items()):
                progress(number, len(files), file)
                yield from frames.read_video(file, records)
        yield from frames.count()
        whole, histograms[key] = whole and frames.is_whole, frames.pixels.total()
        if not manifest.is_colour(key):
            continue
        changed = list(check_channels(manifest, key, frames.pixels))
        yield from changed
        # Statistics must not be made of frames that are at fault themselves.
        if frames.is_whole and not changed and not manifest.was_left_open:
            yield from check_image_stats(manifest, key, histograms[key])
    if whole:
        yield from check_counted_pixels(manifest, counted, histograms)
