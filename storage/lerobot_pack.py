"""Many small files of a LeRobot dataset into few large ones, as its hub wants them; nothing is encoded again."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import pyarrow as pa
import pyarrow.parquet as pq

from . import lerobot_layout as layout
from .columns import image_key
from .spec import EpisodeSpec

_RECORDS_PER_GROUP = 500


def pack(source: Path, target: Path, spec: EpisodeSpec, num_episodes: int) -> None:
    """Copy the first `num_episodes` episodes of `source`, each in files of its own, to packed files in `target`."""
    data = _DataFiles(source, target)
    videos = [_VideoFiles(source, target, image_key(camera.name), spec.fps) for camera in spec.cameras]
    records = _RecordFile(target)
    for number in range(num_episodes):
        record = pq.read_table(source / layout.EPISODES.format(**layout.place(number)))
        places = data.add(number)
        for video in videos:
            if f"videos/{video.key}/chunk_index" in record.column_names:
                places |= video.add(number)
        records.add(_replaced(record, places))
    data.close()
    records.close()
    for video in videos:
        video.close()
    shutil.copytree(source / "meta", target / "meta", dirs_exist_ok=True, ignore=shutil.ignore_patterns("episodes"))


def _replaced(record: pa.Table, places: dict[str, Any]) -> pa.Table:
    places |= {f"meta/episodes/{name}": value for name, value in layout.place(0).items()}
    for name, value in places.items():
        column = record.column_names.index(name)
        record = record.set_column(column, name, pa.array([value], record.schema.field(column).type))
    return record


class _RecordFile:
    """All of meta/episodes in one file; some hundred columns make row groups of one record costly."""

    def __init__(self, target: Path) -> None:
        self._path = target / layout.EPISODES.format(**layout.place(0))
        self._path.parent.mkdir(parents=True)
        self._writer: pq.ParquetWriter | None = None
        self._waiting: list[pa.Table] = []

    def add(self, record: pa.Table) -> None:
        self._waiting.append(record)
        if len(self._waiting) == _RECORDS_PER_GROUP:
            self._flush()

    def close(self) -> None:
        self._flush()
        if self._writer is not None:
            self._writer.close()

    def _flush(self) -> None:
        if self._waiting:
            self._writer = self._writer or pq.ParquetWriter(self._path, self._waiting[0].schema)
            self._writer.write_table(pa.concat_tables(self._waiting))
            self._waiting = []


class _DataFiles:
    """Parquet files with the row groups of many episodes, a new one when the last is full."""

    def __init__(self, source: Path, target: Path) -> None:
        self._source, self._target = source, target
        self._writer: pq.ParquetWriter | None = None
        self._number = -1
        self._num_bytes = 0

    def add(self, number: int) -> dict[str, int]:
        path = self._source / layout.DATA.format(**layout.place(number))
        with pq.ParquetFile(path) as file:
            if self._writer is None or self._num_bytes > layout.DATA_FILE_MB << 20:
                self._begin(file.schema_arrow)
            for group in range(file.num_row_groups):
                self._write(file.read_row_group(group))
        self._num_bytes += path.stat().st_size
        return {f"data/{name}": value for name, value in layout.place(self._number).items()}

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def _begin(self, schema: pa.Schema) -> None:
        self.close()
        self._number += 1
        self._num_bytes = 0
        path = self._target / layout.DATA.format(**layout.place(self._number))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._writer = pq.ParquetWriter(path, schema)

    def _write(self, table: pa.Table) -> None:
        assert self._writer is not None
        self._writer.write_table(table)


class _VideoFiles:
    """The mp4 files of one camera, a new one when the last is full; no episode is cut."""

    def __init__(self, source: Path, target: Path, key: str, fps: int) -> None:
        self.key = key
        self._source, self._target, self._fps = source, target, fps
        self._container: Any = None
        self._stream: Any = None
        self._extradata: bytes | None = None
        self._number = -1
        self._num_bytes = 0
        self._num_frames = 0

    def add(self, number: int) -> dict[str, Any]:
        path = self._source / layout.VIDEO.format(video_key=self.key, **layout.place(number))
        with av.open(str(path)) as part:
            stream: Any = part.streams.video[0]
            # What decoders are set up with stands once in a file: other settings of an encoder need another file.
            other = self._container is None or stream.codec_context.extradata != self._extradata
            if other or self._num_bytes > layout.VIDEO_FILE_MB << 20:
                self._begin(stream)
            first = self._num_frames
            for packet in _packets(part):
                self._mux(packet, first)
        placed: dict[str, Any] = {f"videos/{self.key}/{k}": v for k, v in layout.place(self._number).items()}
        placed[f"videos/{self.key}/from_timestamp"] = first / self._fps
        placed[f"videos/{self.key}/to_timestamp"] = self._num_frames / self._fps
        return placed

    def close(self) -> None:
        if self._container is not None:
            self._container.close()

    def _begin(self, template: Any) -> None:
        self.close()
        self._number += 1
        self._num_bytes = self._num_frames = 0
        path = self._target / layout.VIDEO.format(video_key=self.key, **layout.place(self._number))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._container = av.open(str(path), "w")
        self._extradata = template.codec_context.extradata
        self._stream = self._container.add_stream_from_template(template, opaque=True)
        self._stream.time_base = template.time_base

    def _mux(self, packet: Any, first: int) -> None:
        shift = round(first / self._fps / packet.time_base)
        packet.pts += shift
        packet.dts += shift
        packet.stream = self._stream
        self._num_bytes += packet.size
        self._num_frames += 1
        self._container.mux(packet)


def _packets(part: Any) -> Iterator[Any]:
    # The last packet that PyAV gives is an empty one, which flushes a decoder.
    return (packet for packet in part.demux(video=0) if packet.dts is not None)
