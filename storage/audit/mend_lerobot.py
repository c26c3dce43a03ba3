"""What can be mended in a LeRobot dataset from its own rows and frames."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .. import lerobot_layout as layout
from ..atomic import TEMPORARY_PREFIX, refusals_named, save_array, write_json
from ..columns import image_key
from ..norm_stats import image_stats, vector_stats
from .contents import Contents
from .frames import FramePass
from .manifest import Manifest
from .quarantine import Quarantine
from .records import counts_of
from .tally import Tally
from .values import UNREADABLE, numbers_of


def correct_info(manifest: Manifest, quarantine: Quarantine) -> str:
    """Write the counts of the records and the columns of the sidecar into meta/info.json; return what was done."""
    features, sidecar = dict(manifest.features), manifest.sidecar
    if sidecar is not None and sidecar.spec is not None and sidecar.codec is not None:
        for name, due in layout.features(sidecar.spec, sidecar.codec).items():
            if name in features:
                features[name] = {**features[name], **{key: due[key] for key in ("dtype", "shape", "names")}}
    quarantine.keep(layout.INFO)
    write_json(manifest.path / layout.INFO, {**manifest.info, "features": features, **counts_of(manifest)})
    return f"corrected {layout.INFO}"


def recompute_stats(manifest: Manifest, fields: Collection[str], quarantine: Quarantine) -> Iterator[str]:
    """Compute the entries of these columns and cameras in meta/stats.json anew; one column is in memory at a time.

    A column with a number that is not finite keeps its entry, since JSON cannot hold the new one. Yields what was done.
    """
    wanted = [name for name in manifest.features if name in fields or layout.STATS in fields]
    stats = {name: entry for name in wanted if (entry := _stats_of(manifest, name)) is not None}
    if not stats:
        return
    if (manifest.path / layout.STATS).is_file():
        quarantine.keep(layout.STATS)
    write_json(manifest.path / layout.STATS, {**manifest.stats, **stats})
    yield f"computed the statistics of {', '.join(stats)} anew in {layout.STATS}"


def count_pixels(manifest: Manifest, quarantine: Quarantine) -> str:
    """Count the pixels of each camera anew for the sidecar; return what was done."""
    file = layout.SIDECAR_PIXELS.format(num_rows=sum(record.length for record in manifest.records))
    if (manifest.path / file).exists():
        quarantine.take(file)
    cameras = manifest.spec.cameras if manifest.spec is not None else ()
    counts = np.array([_histogram(manifest, image_key(camera.name)) for camera in cameras]).reshape(-1, 3, 256)
    temporary = (manifest.path / file).with_name(f"{TEMPORARY_PREFIX}pixels.npy")
    with refusals_named(manifest.path / file):
        save_array(temporary, counts)
        os.replace(temporary, manifest.path / file)
    return f"counted the pixels for {file}"


def retime(manifest: Manifest, quarantine: Quarantine) -> Iterator[str]:
    """Stamp every row frame_index / fps, file by file; yield what was done."""
    for file in sorted({record.data_file for record in manifest.records}):
        quarantine.keep(file)
        _retime_file(manifest.path / file, manifest.fps)
        yield f"stamped the rows in {file} at {manifest.fps} fps"


def drop_tail(manifest: Manifest, quarantine: Quarantine) -> Iterator[str]:
    """Move the files of what info.json does not count in to the quarantine; yield what was done."""
    kept = {file for record in manifest.records for _, file in record.files()}
    for record in manifest.uncounted:
        # The record last: as long as it is there, the rest is found again by an interrupted repair.
        for _, file in record.files():
            if file not in kept and (manifest.path / file).is_file():
                yield f"moved {file} to {quarantine.take(file)}"


def _stats_of(manifest: Manifest, name: str) -> dict[str, Any] | None:
    dtype = manifest.features[name]["dtype"]
    if dtype in ("video", "image") and not manifest.is_colour(name):
        return None
    if dtype in ("video", "image"):
        found = image_stats(_histogram(manifest, name), sum(record.length for record in manifest.records))
    elif str(dtype).startswith(("float", "int", "uint", "bool")):
        if (column := _column(manifest, name)) is None:
            return None
        found = vector_stats(column)
    else:
        return None
    finite = all(np.isfinite(value).all() for value in found.values())
    return {stat: value.tolist() for stat, value in found.items()} if finite else None


def _column(manifest: Manifest, name: str) -> np.ndarray | None:
    """All rows of a column, (T, D); None where a file has no numbers under this name."""
    parts = []
    for file in sorted({record.data_file for record in manifest.records}):
        try:
            parts.append(numbers_of(pq.ParquetFile(manifest.path / file).read([name])[name]))
        except UNREADABLE:
            return None
    whole = [part for part in parts if part is not None]
    same = len(whole) == len(parts) and len({part.shape[1] for part in whole}) == 1
    return np.concatenate(whole) if same else None


def _histogram(manifest: Manifest, key: str) -> np.ndarray:
    frames = FramePass(manifest, key, Contents(), Tally())
    if manifest.features[key]["dtype"] == "image":
        list(frames.read_images())
    else:
        for file, records in frames.files().items():
            list(frames.read_video(file, records))
    return frames.pixels.total()


def _retime_file(path: Path, fps: int) -> None:
    temporary = path.with_name(f"{TEMPORARY_PREFIX}{path.name}")
    parquet = pq.ParquetFile(path)
    column = parquet.schema_arrow.get_field_index("timestamp")
    with refusals_named(path):
        with pq.ParquetWriter(temporary, parquet.schema_arrow) as writer:
            for number in range(parquet.num_row_groups):
                rows = parquet.read_row_group(number)
                stamps = pc.divide(rows["frame_index"].cast(pa.float64()), float(fps))
                field = parquet.schema_arrow.field(column)
                writer.write_table(rows.set_column(column, field, stamps.cast(field.type)))
        os.replace(temporary, path)
