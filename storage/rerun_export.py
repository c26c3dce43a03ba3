"""Episodes as recordings for the Rerun viewer, laid out as `lerobot-dataset-viz --save 1` does.

One `.rrd` file holds one episode. Entities have LeRobot's names (`observation.images.<camera>`, `action`, `state`,
`next.reward`, ...), the timelines are `frame_index` and `timestamp` (seconds since the episode began).
"""

from __future__ import annotations

import io
from collections.abc import Collection
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from PIL import Image

from .atomic import publish_folder
from .columns import (
    ACTION,
    INTERVENTION,
    REWARD,
    SCORE,
    STATE,
    SUCCESS,
    TRUST,
    columns_of,
    frames_of,
    image_key,
    names_of,
)
from .dataset import EpisodeReader
from .drafts import block_ranges, rows_per_block
from .episode import EpisodeSummary, Rows
from .errors import ConfigError, StoreError
from .progress import Progress, silent
from .spec import EpisodeSpec

#: Frames of no more pixels become PNG, larger ones JPEG; on frames this small JPEG shows and saves little.
LOSSLESS_PIXELS = 128 * 128
JPEG_QUALITY = 90
#: Seconds that a disk may take for what waits to be written.
FLUSH_S = 60.0
#: The columns that are drawn in a view of their own; the others have none until the user asks for one.
PLOTTED = (ACTION, STATE, REWARD, SUCCESS, SCORE, TRUST, INTERVENTION)


def export_rerun(
    reader: EpisodeReader, path: Path | str, ids: Collection[str] | None = None, progress: Progress = silent
) -> None:
    """Write `<path>/<id>.rrd` for each episode, or for those in `ids`; `path` appears when all are written.

    Frames are compressed images and not video, because the viewer plays H.264 only where ffmpeg is installed.

    Raises:
        ConfigError: rerun-sdk is not installed.
        StoreError: an episode is not there or damaged, something stands at `path`, or the disk is full.
    """
    rerun = _import_rerun()
    summaries = reader.summaries() if ids is None else [reader.summary(id) for id in ids]
    with publish_folder(path) as folder:
        for number, summary in enumerate(summaries):
            progress(number, len(summaries), summary.id)
            write_recording(rerun, reader, summary, folder / f"{summary.id}.rrd")


def entity_of(column: str) -> str:
    """The entity under which LeRobot's users find a column: `observation.state` is `state`, others keep their name."""
    return "state" if column == STATE else column


def _import_rerun() -> ModuleType:
    try:
        import rerun
    except ImportError as error:
        raise ConfigError(
            "an export for Rerun needs the package rerun-sdk; `pip install 'demoloom[rerun]'` installs it"
        ) from error
    return rerun


def write_recording(rerun: Any, reader: EpisodeReader, summary: EpisodeSummary, file: Path) -> None:
    """Write one episode; StoreError if it is damaged or the file cannot be written."""
    try:
        _write_recording(rerun, reader, summary, file)
    except RuntimeError as error:
        raise StoreError(f"cannot write the recording {file} ({error}); see whether the disk is full") from error


def _write_recording(rerun: Any, reader: EpisodeReader, summary: EpisodeSummary, file: Path) -> None:
    # One application for all: the viewer then lists the episodes side by side and keeps one layout for them.
    recording = rerun.RecordingStream(f"demoloom/{reader.path.resolve().name}", recording_id=summary.id)
    recording.save(file, default_blueprint=_blueprint(reader.spec))
    try:
        _describe(rerun, recording, reader.spec, summary)
        for start, stop in block_ranges(0, summary.length, rows_per_block(reader.spec)):
            _send_rows(rerun, recording, reader.rows(summary.id, start, stop), start, reader.spec.fps)
        recording.flush(timeout_sec=FLUSH_S)
    finally:
        recording.disconnect()


def _describe(rerun: Any, recording: Any, spec: EpisodeSpec, summary: EpisodeSummary) -> None:
    recording.send_recording_name(summary.id)
    known = {name: str(getattr(summary, name)) for name in ("index", "seed", "outcome", "reason")}
    recording.send_property("episode", rerun.AnyValues(**known))
    recording.log("task", rerun.TextDocument(summary.task), static=True, strict=True)
    for column, names in names_of(spec).items():
        recording.log(_path(rerun, column), rerun.SeriesLines(names=list(names)), static=True, strict=True)


def _send_rows(rerun: Any, recording: Any, rows: Rows, start: int, fps: int) -> None:
    steps = np.arange(start, start + len(rows))
    times = [rerun.TimeColumn("frame_index", sequence=steps), rerun.TimeColumn("timestamp", duration=steps / fps)]
    for name, values in columns_of(rows).items():
        lines = rerun.Scalars.columns(scalars=values.reshape(len(rows), -1).astype(np.float64))
        recording.send_columns(_path(rerun, name), times, lines, strict=True)
    for name, frames in frames_of(rows).items():
        media_type = "image/png" if frames[0].size <= 3 * LOSSLESS_PIXELS else "image/jpeg"
        blobs = [_compressed(frame, media_type) for frame in frames]
        images = rerun.EncodedImage.columns(blob=blobs, media_type=[media_type] * len(blobs))
        recording.send_columns(_path(rerun, name), times, images, strict=True)


def _compressed(frame: np.ndarray, media_type: str) -> bytes:
    buffer = io.BytesIO()
    if media_type == "image/png":
        Image.fromarray(frame).save(buffer, "PNG", compress_level=1)
    else:
        Image.fromarray(frame).save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()


def _blueprint(spec: EpisodeSpec) -> Any:
    import rerun
    import rerun.blueprint as views

    pictures = {camera.name: image_key(camera.name) for camera in spec.cameras}
    plotted = [name for name in PLOTTED if name in names_of(spec)]
    shown: list[Any] = [views.Spatial2DView(origin=_path(rerun, key), name=name) for name, key in pictures.items()]
    shown += [views.TimeSeriesView(origin=_path(rerun, name), name=entity_of(name)) for name in plotted]
    return views.Blueprint(views.Grid(*shown, views.TextDocumentView(origin="task", name="task")))


def _path(rerun: Any, column: str) -> str:
    # As one part, whatever is in a camera's name.
    return str(rerun.new_entity_path([entity_of(column)]))
