"""What the metadata of a LeRobot v3 dataset says of it, read as far as it can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from .. import lerobot_layout as layout
from ..atomic import read_json
from ..errors import StoreError
from ..spec import EpisodeSpec
from .finding import Finding
from .sidecar import Sidecar, read_sidecar
from .values import UNREADABLE

RESTORE = "restore it from a copy"


@dataclass(frozen=True)
class Span:
    """Where the frames of one camera in an episode are: seconds start .. end of a video file."""

    file: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Record:
    """An episode as meta/episodes describes it.

    Args:
        number: LeRobot's `episode_index`.
        id: demoloom's, or `<folder>-<number>` as in `LeRobotReader`.
        length: rows.
        first_row, end_row: its place among the rows of the dataset.
        tasks: texts.
        data_file: file of its rows.
        spans: key of each video camera -> its frames.
        image_means: key of each camera -> (3,) mean of each channel in 0..1, where LeRobot's statistics have it.
        file: file of meta/episodes that this comes from.
    """

    number: int
    id: str
    length: int
    first_row: int
    end_row: int
    tasks: tuple[str, ...]
    data_file: str
    spans: Mapping[str, Span]
    image_means: Mapping[str, np.ndarray]
    file: str

    def files(self) -> Iterator[tuple[str, str]]:
        """What it needs: a field, and its file. That of meta/episodes comes last: it is what names the others."""
        yield "data", self.data_file
        for key, span in self.spans.items():
            yield key, span.file
        yield "meta/episodes", self.file


@dataclass(frozen=True)
class Manifest:
    """The metadata of a dataset.

    Args:
        path: folder of the dataset.
        info: meta/info.json.
        fps: rows per second.
        records: episodes that count, by number.
        uncounted: the episode that a killed writer of demoloom left before info.json counted it in.
        tasks: task_index -> text.
        stats: meta/stats.json.
        sidecar: None where demoloom did not write the dataset.
    """

    path: Path
    info: Mapping[str, Any]
    fps: int
    records: tuple[Record, ...]
    uncounted: tuple[Record, ...] = ()
    tasks: Mapping[int, str] = field(default_factory=dict)
    stats: Mapping[str, Any] = field(default_factory=dict)
    sidecar: Sidecar | None = None

    @property
    def spec(self) -> EpisodeSpec | None:
        """The sidecar's, with bounds; None if there is none."""
        return None if self.sidecar is None else self.sidecar.spec

    @property
    def lossless(self) -> bool:
        """Whether frames are known to be stored as they were recorded."""
        return self.sidecar is not None and self.sidecar.lossless

    @property
    def was_left_open(self) -> bool:
        """Whether demoloom has added rows since it made the statistics, which closing a store makes anew."""
        try:
            counted = int(self.stats["index"]["count"][0])
        except (KeyError, IndexError, TypeError, ValueError):
            return False
        return self.sidecar is not None and counted < sum(record.length for record in self.records)

    @property
    def features(self) -> Mapping[str, Mapping[str, Any]]:
        """LeRobot's description of each column."""
        features: Mapping[str, Mapping[str, Any]] = self.info["features"]
        return features

    def cameras(self, dtype: str) -> list[str]:
        """Keys of the cameras kept as `video` or as `image`."""
        return [key for key, feature in self.features.items() if feature.get("dtype") == dtype]

    def is_colour(self, key: str) -> bool:
        """Whether a camera's frames are RGB; LeRobot keeps depth as video too, with statistics in its own unit."""
        feature = self.features[key]
        about = feature["info"] if isinstance(feature.get("info"), dict) else {}
        depth = about.get("is_depth_map") or about.get("video.is_depth_map")
        return 3 in (*feature["shape"][:1], *feature["shape"][-1:]) and not depth


def read_manifest(path: Path, findings: list[Finding]) -> Manifest | None:
    """Read the metadata, add what is wrong with it to `findings`; None if there is nothing to go on with."""
    info = _read_info(path, findings)
    if info is None:
        return None
    sidecar = read_sidecar(path, findings)
    records = _read_records(path, info, sidecar.ids if sidecar else (), findings)
    counted = _count(records, info) if sidecar else len(records)
    return Manifest(
        path=path,
        info=info,
        fps=int(info["fps"]),
        records=tuple(records[:counted]),
        uncounted=tuple(records[counted:]),
        tasks=_read_tasks(path, findings),
        stats=_read_stats(path, findings),
        sidecar=sidecar,
    )


def _read_info(path: Path, findings: list[Finding]) -> dict[str, Any] | None:
    try:
        info = read_json(path / layout.INFO)
    except StoreError as error:
        findings.append(Finding(field=layout.INFO, message=str(error)))
        return None
    fault = _fault_of_info(info)
    if fault is not None:
        findings.append(Finding(field=layout.INFO, message=fault))
    return info if fault is None else None


def _fault_of_info(info: Mapping[str, Any]) -> str | None:
    version, features, fps = str(info.get("codebase_version")), info.get("features"), info.get("fps")
    if not version.startswith("v3."):
        return (
            f"the dataset is of LeRobot version {version}, demoloom reads v3.x; convert it with "
            "`demoloom import`, which takes v2.1"
        )
    if not isinstance(fps, int | float) or isinstance(fps, bool) or fps < 1 or fps % 1:
        return f"fps is {fps!r}; it must be a whole number of 1 or more"
    if not isinstance(features, dict) or not all(_is_feature(feature) for feature in features.values()):
        return f"features must give each column a dtype and a shape; {RESTORE}"
    filmed = any(feature["dtype"] == "video" for feature in features.values())
    for name in ("data_path", "video_path") if filmed else ("data_path",):
        if not isinstance(info.get(name), str):
            return f"{name} is {info.get(name)!r}; {RESTORE}"
    return None


def _is_feature(feature: Any) -> bool:
    return isinstance(feature, dict) and "dtype" in feature and isinstance(feature.get("shape"), list)


def _read_records(path: Path, info: Mapping[str, Any], ids: Sequence[str], findings: list[Finding]) -> list[Record]:
    files = sorted((path / "meta" / "episodes").glob("*/*.parquet"))
    raws: list[tuple[dict[str, Any], str]] = []
    torn = []
    for file in files:
        name = file.relative_to(path).as_posix()
        try:
            raws += [(raw, name) for raw in _read_raw_records(file, info["features"])]
        except UNREADABLE as error:
            torn.append((name, error))
    records = []
    for raw, name in raws:
        try:
            records.append(_record(path, info, raw, ids, name))
        except (LookupError, TypeError, ValueError) as error:
            what = f"a record in {name} cannot be used ({type(error).__name__}: {error}); {RESTORE}"
            findings.append(Finding(field="meta/episodes", message=what))
    findings += _torn_records(torn, len(records), info)
    if not files:
        what = "there is none, the writer was stopped before it finished; record the dataset again"
        findings.append(Finding(field="meta/episodes", message=what))
    return sorted(records, key=lambda record: (record.number, record.file))


def _count(records: list[Record], info: Mapping[str, Any]) -> int:
    """How many records count; a `LeRobotStore` adds one at a time, in a file of its own, and counts it afterwards."""
    others = {record.file for record in records[:-1]}
    left = records and len(records) - 1 == info.get("total_episodes") and records[-1].file not in others
    return len(records) - 1 if left else len(records)


def _torn_records(torn: list[tuple[str, Exception]], num_read: int, info: Mapping[str, Any]) -> Iterator[Finding]:
    # Where all that info.json counts was read, the file is what a killed writer left.
    for name, error in torn:
        if 0 < num_read == info.get("total_episodes"):
            what = f"it cannot be read ({error}) and holds none of the episodes that count; --repair moves it away"
            yield Finding(field=name, message=what, mend="quarantine", file=name)
        else:
            yield Finding(field=name, message=f"it cannot be read ({error}); {RESTORE}")


def _read_raw_records(file: Path, features: Mapping[str, Any]) -> list[dict[str, Any]]:
    parquet = pq.ParquetFile(file)
    means = {f"stats/{key}/mean" for key, feature in features.items() if feature["dtype"] in ("video", "image")}
    names = [name for name in parquet.schema_arrow.names if not name.startswith("stats/") or name in means]
    return list(parquet.read(names).to_pylist())


def _record(path: Path, info: Mapping[str, Any], raw: Mapping[str, Any], ids: Sequence[str], file: str) -> Record:
    number = int(raw["episode_index"])
    keys = [key for key, feature in info["features"].items() if feature["dtype"] in ("video", "image")]
    means = {key: np.ravel(raw[f"stats/{key}/mean"]) for key in keys if raw.get(f"stats/{key}/mean") is not None}
    return Record(
        number=number,
        id=ids[number] if 0 <= number < len(ids) else layout.foreign_id(path, number),
        length=int(raw["length"]),
        first_row=int(raw["dataset_from_index"]),
        end_row=int(raw["dataset_to_index"]),
        tasks=tuple(map(str, raw.get("tasks") or ())),
        data_file=info["data_path"].format(
            chunk_index=int(raw["data/chunk_index"]), file_index=int(raw["data/file_index"])
        ),
        spans={key: _span(info, raw, key) for key in keys if info["features"][key]["dtype"] == "video"},
        image_means={key: np.asarray(mean, float) for key, mean in means.items() if len(mean) == 3},
        file=file,
    )


def _span(info: Mapping[str, Any], raw: Mapping[str, Any], key: str) -> Span:
    place = {name: int(raw[f"videos/{key}/{name}"]) for name in ("chunk_index", "file_index")}
    start, end = (float(raw[f"videos/{key}/{name}_timestamp"]) for name in ("from", "to"))
    return Span(info["video_path"].format(video_key=key, **place), start, end)


def _read_tasks(path: Path, findings: list[Finding]) -> dict[int, str]:
    try:
        table = pq.ParquetFile(path / layout.TASKS).read()
        text = next(name for name in table.column_names if name != "task_index")
        return dict(zip(table["task_index"].to_pylist(), map(str, table[text].to_pylist()), strict=True))
    except (*UNREADABLE, StopIteration) as error:
        findings.append(Finding(field=layout.TASKS, message=f"it cannot be read ({error}); {RESTORE}"))
        return {}


def _read_stats(path: Path, findings: list[Finding]) -> dict[str, Any]:
    try:
        return read_json(path / layout.STATS)
    except StoreError as error:
        message = f"it cannot be read ({error.__cause__}); --repair makes it anew"
        findings.append(Finding(field=layout.STATS, message=message, mend="stats"))
        return {}
