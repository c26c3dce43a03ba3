"""How an episode becomes part of a LeRobot dataset: its files are placed whole, one by one, and counted at the end."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import lerobot_layout as layout
from .atomic import save_array, write_json
from .columns import image_key
from .encoding import IMAGES_PER_GROUP, ImageWriter
from .episode import EpisodeSummary
from .lerobot_index import LeRobotIndex
from .lerobot_stats import write_stats
from .norm_stats import image_stats, vector_stats
from .spec import EpisodeSpec
from .video import Codec

#: The statistics of the dataset are made anew when its rows have doubled; `LeRobotStore.close` makes them exact.
_STATS_GROWTH = 2.0


@dataclass(frozen=True)
class TakenEpisode:
    """An episode ready to be put into a dataset.

    Args:
        folder: where its files lie, on the disk of the dataset.
        summary, digest: as the store keeps them.
        columns: all but the frames and what LeRobot adds, under their names.
        frames: camera name -> its mp4 file, or its PNG images.
        pixels: (cameras, 3, 256) int64, how often each level occurs.
    """

    folder: Path
    summary: EpisodeSummary
    digest: str
    columns: dict[str, np.ndarray]
    frames: dict[str, Path | ImageWriter]
    pixels: np.ndarray


def commit(path: Path, spec: EpisodeSpec, codec: Codec, index: LeRobotIndex, taken: TakenEpisode) -> None:
    """Add an episode to the dataset at `path`, whose lock the caller holds and whose `index` is up to date."""
    number, length = len(index.digests), taken.summary.length
    tasks = index.tasks | {taken.summary.task: index.tasks.get(taken.summary.task, len(index.tasks))}
    num_rows = index.num_rows + length
    columns = taken.columns | _bookkeeping(length, spec.fps, number, index.num_rows, tasks[taken.summary.task])
    place = layout.place(number)
    for camera, frames in taken.frames.items():
        if isinstance(frames, Path):
            _move(frames, path / layout.VIDEO.format(video_key=image_key(camera), **place))
    _write_rows(taken, columns, path / layout.DATA.format(**place))
    _write_record(taken, _record(taken, columns, spec.fps, number, index.num_rows), path, place)
    if len(tasks) > len(index.tasks):
        _write_tasks(taken, list(tasks), path)
    _write_pixels(taken, index.pixels() + taken.pixels, path, num_rows)
    index.append_line({**taken.summary.to_dict(), "digest": taken.digest})
    write_stats(path, spec, num_rows, growth=_STATS_GROWTH)
    write_json(path / layout.INFO, layout.info(spec, codec, number + 1, num_rows, len(tasks)))
    _remove_old_pixels(path, num_rows)


def _bookkeeping(length: int, fps: int, number: int, first_row: int, task: int) -> dict[str, np.ndarray]:
    steps = np.arange(length)
    columns = {
        "timestamp": steps / fps,
        "frame_index": steps,
        "episode_index": np.full(length, number),
        "index": steps + first_row,
        "task_index": np.full(length, task),
    }
    return {name: values.astype(layout.BOOKKEEPING[name]) for name, values in columns.items()}


def _record(
    taken: TakenEpisode, columns: dict[str, np.ndarray], fps: int, number: int, first_row: int
) -> dict[str, Any]:
    """The episode's row in meta/episodes."""
    length, place = taken.summary.length, layout.place(number)
    record: dict[str, Any] = {
        "episode_index": number,
        "tasks": [taken.summary.task],
        "length": length,
        "dataset_from_index": first_row,
        "dataset_to_index": first_row + length,
        **{f"meta/episodes/{name}": value for name, value in place.items()},
        **{f"data/{name}": value for name, value in place.items()},
    }
    stats = {name: vector_stats(values) for name, values in columns.items()}
    for (camera, frames), pixels in zip(taken.frames.items(), taken.pixels, strict=True):
        key = image_key(camera)
        stats[key] = image_stats(pixels, length)
        if isinstance(frames, Path):
            record |= {f"videos/{key}/{name}": value for name, value in place.items()}
            record |= {f"videos/{key}/from_timestamp": 0.0, f"videos/{key}/to_timestamp": length / fps}
    return record | {f"stats/{name}/{stat}": value.tolist() for name, of in stats.items() for stat, value in of.items()}


def _write_rows(taken: TakenEpisode, columns: dict[str, np.ndarray], path: Path) -> None:
    """The episode's Parquet file; images lie in its rows, a few to a row group."""
    images = {image_key(name): frames for name, frames in taken.frames.items() if isinstance(frames, ImageWriter)}
    table = pa.table({name: _arrow(values) for name, values in columns.items()})
    temporary = taken.folder / "rows"
    if not images:
        pq.write_table(table, temporary)
    else:
        _write_rows_with_images(table, images, temporary)
    _move(temporary, path)


def _write_rows_with_images(table: pa.Table, images: dict[str, ImageWriter], path: Path) -> None:
    writer: pq.ParquetWriter | None = None
    for number, block in enumerate(zip(*(images[key].images() for key in images), strict=True)):
        part = table.slice(number * IMAGES_PER_GROUP, IMAGES_PER_GROUP)
        for key, column in zip(images, block, strict=True):
            part = part.append_column(key, column)
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    if writer is not None:
        writer.close()


def _write_record(taken: TakenEpisode, record: dict[str, Any], path: Path, place: dict[str, int]) -> None:
    pq.write_table(pa.Table.from_pylist([record]), taken.folder / "record")
    _move(taken.folder / "record", path / layout.EPISODES.format(**place))


def _write_tasks(taken: TakenEpisode, tasks: list[str], path: Path) -> None:
    import pandas as pd  # type: ignore[import-untyped]

    # LeRobot looks tasks up in the index of the frame, which only pandas' own metadata makes of the column.
    frame = pd.DataFrame({"task_index": range(len(tasks))}, index=pd.Index(tasks, name="task"))
    frame.to_parquet(taken.folder / "tasks")
    _move(taken.folder / "tasks", path / layout.TASKS)


def _write_pixels(taken: TakenEpisode, pixels: np.ndarray, path: Path, num_rows: int) -> None:
    save_array(taken.folder / "pixels.npy", pixels)
    _move(taken.folder / "pixels.npy", path / layout.SIDECAR_PIXELS.format(num_rows=num_rows))


def _remove_old_pixels(path: Path, num_rows: int) -> None:
    current = path / layout.SIDECAR_PIXELS.format(num_rows=num_rows)
    for file in current.parent.glob("pixels-*.npy"):
        if file != current:
            file.unlink(missing_ok=True)


def _move(file: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.replace(file, path)


def _arrow(values: np.ndarray) -> pa.Array:
    if values.ndim == 2 and values.shape[1] > 1:
        return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
    # LeRobot reads columns of shape (1,) as plain numbers.
    return pa.array(values.reshape(len(values)))
