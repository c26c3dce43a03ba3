"""Ways to damage a dataset on disk, as edits, crashes and other tools do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from demoloom.storage import Camera
from demoloom.storage.audit import Finding, Report
from demoloom.storage.video import LOSSLESS, VideoCodec, VideoWriter

DATA = "data/chunk-000/file-000.parquet"
RECORDS = "meta/episodes/chunk-000/file-000.parquet"
VIDEO = "videos/observation.images.top/chunk-000/file-000.mp4"


def edit_json(path: Path, **changes: Any) -> None:
    """Replace keys of a JSON object."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def edit_feature(dataset: Path, name: str, **changes: Any) -> None:
    """Replace keys of a column's description in info.json."""
    features = json.loads((dataset / "meta/info.json").read_text())["features"]
    edit_json(dataset / "meta/info.json", features={**features, name: {**features[name], **changes}})


def edit_stats(dataset: Path, name: str, **changes: Any) -> None:
    """Replace statistics of a column in stats.json."""
    stats = json.loads((dataset / "meta/stats.json").read_text())
    edit_json(dataset / "meta/stats.json", **{name: {**stats[name], **changes}})


def edit_rows(dataset: Path, name: str, change: Callable[[Any], Any], file: str = DATA) -> None:
    """Hand a column of a data or record file, as a list, to `change`, and write back what that returns."""
    table = pq.ParquetFile(dataset / file).read()
    column = table.column_names.index(name)
    values = pa.array(change(table[name].to_pylist()), table.schema.field(column).type)
    pq.write_table(table.set_column(column, name, values), dataset / file)


def with_value(position: int, value: Any) -> Callable[[list[Any]], list[Any]]:
    """A change of one value."""
    return lambda values: [*values[:position], value, *values[position + 1 :]]


def keep_rows(dataset: Path, rows: list[int], file: str) -> None:
    """Keep only these rows of a Parquet file."""
    table = pq.ParquetFile(dataset / file).read()
    pq.write_table(table.take(rows), dataset / file)


def make_foreign(dataset: Path) -> Path:
    """Take away all that only demoloom writes."""
    shutil.rmtree(dataset / "meta/demoloom")
    return dataset


def decode(video: Path) -> np.ndarray:
    """(T, H, W, 3) frames of a video."""
    with av.open(str(video)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def encode(video: Path, frames: np.ndarray, fps: int = 10, codec: VideoCodec = LOSSLESS) -> None:
    """Replace a video."""
    writer = VideoWriter(video, Camera("any", *frames.shape[1:3]), fps, codec)
    writer.write(frames)
    writer.close()


def named(report: Report, severity: str = "error") -> set[tuple[str | None, str]]:
    """Episode and field of each finding of a severity."""
    return {(finding.episode, finding.field) for finding in report.findings if finding.severity == severity}


def the_finding(report: Report, field: str, episode: str | None = None) -> Finding:
    """The one finding of this field and episode."""
    (found,) = [finding for finding in report.findings if (finding.field, finding.episode) == (field, episode)]
    return found
