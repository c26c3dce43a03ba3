"""LeRobot v3 datasets as episodes, without importing LeRobot; also those which demoloom did not write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import lerobot_layout as layout
from .atomic import read_json
from .columns import (
    ACTION,
    IMAGE_PREFIX,
    INTERVENTION,
    LABEL_PREFIX,
    REWARD,
    SCORE,
    STATE,
    SUCCESS,
    TRUST,
    episode_of,
    image_key,
    label_key,
    name_in,
    rows_of,
)
from .damage import damage_named
from .dataset import check_rows_there
from .episode import Episode, EpisodeSummary, Rows
from .errors import StoreError
from .lerobot_images import read_images
from .lerobot_stats import as_rows
from .spec import Camera, EpisodeSpec, Vector, read_spec
from .stamps import due_times, in_time
from .video import VideoReader


class LeRobotReader:
    """An EpisodeReader of the LeRobot v3 dataset at `path`.

    Without demoloom's sidecar the bounds of state and action are the least and greatest values found, success, score
    and trust come from `next.success`, `next.score` (or `next.reward`, clipped to [0, 1]) and `wm.trust` where there
    are such columns, else they are false, 0 and 1; labels are the columns `label.<name>`; who drove is said by
    LeRobot's column `intervention` if there is one; an id is `<folder>-<episode_index>`.

    Raises:
        StoreError: the dataset is of another version, was never finished, or lacks what an episode needs.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        with damage_named(self.path):
            self._open()

    def _open(self) -> None:
        self._info = _read_info(self.path)
        self._features: dict[str, dict[str, Any]] = self._info["features"]
        self._records = _read_records(self.path, self._info.get("total_episodes"))
        self._tasks = _read_tasks(self.path) if self._records else {}
        self._own = (self.path / layout.SIDECAR_SPEC).is_file()
        self.spec = self._own_spec() if self._own else self._foreign_spec()
        self._table: tuple[Path, pa.Table] | None = None
        self._last: tuple[int, dict[str, np.ndarray]] | None = None
        self._cameras = {image_key(camera.name): camera for camera in self.spec.cameras}
        self._videos = {key: VideoReader(camera, self.spec.fps) for key, camera in self._cameras.items()}
        self._summaries = self._own_summaries() if self._own else None

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Episode]:
        for number, summary in enumerate(self.summaries()):
            yield self._read(number, summary)

    def ids(self) -> list[str]:
        """The ids of all episodes, in LeRobot's order."""
        return [summary.id for summary in self.summaries()]

    def summaries(self) -> list[EpisodeSummary]:
        """The summaries of all episodes, in LeRobot's order; no frame is read."""
        if self._summaries is None:
            with damage_named(self.path):
                self._summaries = [self._foreign_summary(number) for number in range(len(self))]
        return list(self._summaries)

    def __contains__(self, id: str) -> bool:
        return id in self._numbers

    def summary(self, id: str) -> EpisodeSummary:
        """The summary of one episode; StoreError if it is not there."""
        return self.summaries()[self._number(id)]

    def read(self, id: str) -> Episode:
        """Read one episode; StoreError if it is not there or damaged."""
        number = self._number(id)
        return self._read(number, self.summaries()[number])

    def rows(self, id: str, start: int, stop: int) -> Rows:
        """Rows start .. stop - 1 of one episode; StoreError if they are not there or damaged."""
        number = self._number(id)
        check_rows_there(self.summaries()[number], start, stop)
        return self._part(number, start, stop)

    def columns(self, id: str) -> dict[str, np.ndarray]:
        """All of one episode but its frames, as `columns_of` names it; StoreError if it is not there or damaged."""
        with damage_named(self.path):
            return self._columns(self._number(id))

    def frame_place(self, id: str, camera: str) -> tuple[Path, int]:
        """The file with an episode's frames, a video or a table of images, and which of those in it is the first."""
        with damage_named(self.path):
            return self._frame_place(self._number(id), image_key(camera))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {summary.id: number for number, summary in enumerate(self.summaries())}

    def _number(self, id: str) -> int:
        if id not in self:
            raise StoreError(f"there is no episode {id!r} in {self.path}; ids() lists those it has")
        return self._numbers[id]

    def _read(self, number: int, summary: EpisodeSummary) -> Episode:
        return episode_of(summary, self._part(number, 0, summary.length))

    def _part(self, number: int, start: int, stop: int) -> Rows:
        with damage_named(self.path):
            return self._read_part(number, start, stop)

    def _read_part(self, number: int, start: int, stop: int) -> Rows:
        frames = {key: self._frames(number, key, start, stop) for key in self._cameras}
        if self._last is None or self._last[0] != number:
            # A long episode comes in many small parts, all of which need its columns.
            self._last = (number, self._columns(number))
        columns = {name: values[start:stop].copy() for name, values in self._last[1].items()}
        return rows_of(self.spec, frames, columns)

    def _frames(self, number: int, key: str, start: int, stop: int) -> np.ndarray:
        path, first = self._frame_place(number, key)
        if self._features[key]["dtype"] == "image":
            return read_images(path, key, self._cameras[key], first + start, stop - start)
        return self._videos[key].read(path, first + start, stop - start)

    def _frame_place(self, number: int, key: str) -> tuple[Path, int]:
        record = self._records[number]
        if self._features[key]["dtype"] == "image":
            return self._data_path(record), self._first_row(record)
        place = {name: record[f"videos/{key}/{name}"] for name in ("chunk_index", "file_index")}
        path = self.path / self._info["video_path"].format(video_key=key, **place)
        return path, round(record[f"videos/{key}/from_timestamp"] * self.spec.fps)

    def _columns(self, number: int) -> dict[str, np.ndarray]:
        rows = self._rows(number)
        length = len(rows)
        columns = {name: _numbers(rows[name]) for name in (STATE, ACTION)}
        columns |= {label_key(name): _numbers(rows[label_key(name)]) for name in self.spec.labels}
        for name, default in ((REWARD, 0.0), (TRUST, 1.0)):
            columns[name] = _scalar_rows(rows, name, np.full(length, default, np.float32))
        columns[SUCCESS] = _scalar_rows(rows, SUCCESS, np.zeros(length)) > 0.5
        columns[SCORE] = _scalar_rows(rows, SCORE, np.clip(columns[REWARD], 0, 1))
        if self.spec.intervention:
            columns[INTERVENTION] = _scalar_rows(rows, INTERVENTION, np.zeros(length)) > 0.5
        return columns

    def _rows(self, number: int) -> pa.Table:
        record = self._records[number]
        rows = self._data_file(record).slice(self._first_row(record), record["length"])
        self._check_rows(number, rows)
        return rows

    def _check_rows(self, number: int, rows: pa.Table) -> None:
        length = self._records[number]["length"]
        if len(rows) != length or set(rows["episode_index"].to_pylist()) != {number}:
            raise StoreError(
                f"{self.path}: the rows of episode {number} are not where meta/episodes puts them; "
                "the dataset was cut or mixed up, restore it from a copy"
            )
        self._check_times(number, rows)

    def _check_times(self, number: int, rows: pa.Table) -> None:
        timely = in_time(rows["timestamp"].to_numpy(), due_times(len(rows), self.spec.fps))
        if not timely.all():
            step = int(timely.argmin())
            raise StoreError(
                f"{self.path}: row {step} of episode {number} is stamped {rows['timestamp'][step].as_py():.4f} s, "
                f"at {self.spec.fps} fps it must be {step / self.spec.fps:.4f} s; "
                "`demoloom retime` writes it anew at a true rate"
            )

    def _first_row(self, record: Mapping[str, Any]) -> int:
        """Where in its file an episode starts."""
        return int(record["dataset_from_index"] - self._data_file(record)["index"][0].as_py())

    def _data_path(self, record: Mapping[str, Any]) -> Path:
        place = {name: record[f"data/{name}"] for name in ("chunk_index", "file_index")}
        return self.path / self._info["data_path"].format(**place)

    def _data_file(self, record: Mapping[str, Any]) -> pa.Table:
        """All columns but the images of the file that an episode lies in."""
        path = self._data_path(record)
        if self._table is None or self._table[0] != path:
            images = [key for key, feature in self._features.items() if feature["dtype"] == "image"]
            self._table = (path, _read_table(path, lambda name: name not in images))
        return self._table[1]

    def _own_spec(self) -> EpisodeSpec:
        return read_spec(self.path / layout.SIDECAR_SPEC)

    def _own_summaries(self) -> list[EpisodeSummary]:
        # Another process may be adding episodes: what is beyond those counted is its own affair.
        summaries = _read_summaries(self.path / layout.SIDECAR_EPISODES, len(self._records))
        if [summary.length for summary in summaries] != [record["length"] for record in self._records]:
            raise StoreError(
                f"{self.path}: meta/demoloom does not fit the episodes; the dataset was edited by another tool, "
                "delete meta/demoloom to read it as a plain LeRobot dataset"
            )
        return summaries

    def _foreign_summary(self, number: int) -> EpisodeSummary:
        columns = self._columns(number)
        solved = bool(columns[SUCCESS].any())
        task = self._tasks[self._rows(number)["task_index"][0].as_py()]
        unsolved = "the task was not solved" if SUCCESS in self._features else "the dataset has no next.success"
        return EpisodeSummary(
            id=layout.foreign_id(self.path, number),
            index=number,
            seed=0,
            task=task,
            length=self._records[number]["length"],
            outcome="success" if solved else "failure",
            reason="" if solved else unsolved,
            score_max=float(columns[SCORE].max()),
            score_last=float(columns[SCORE][-1]),
            success=solved,
            trust_min=float(columns[TRUST].min()),
            lineage={"source": {"dataset": self.path.resolve().name, "episode_index": number}},
        )

    def _foreign_spec(self) -> EpisodeSpec:
        for name in (STATE, ACTION):
            if name not in self._features:
                raise StoreError(
                    f"{self.path} has no column {name!r}, which every episode needs; record it, or rename one"
                )
        cameras = tuple(self._camera(key) for key in self._features if key.startswith(IMAGE_PREFIX))
        labels = [key for key in self._features if key.startswith(LABEL_PREFIX)]
        bounds = _read_stats(self.path)
        return EpisodeSpec(
            fps=int(self._info["fps"]),
            cameras=cameras,
            state=self._vector(STATE, bounds),
            action=self._vector(ACTION, bounds),
            labels={name_in(key): self._vector(key, bounds) for key in labels},
            robot_type=str(self._info.get("robot_type") or "unknown"),
            intervention=_is_truth(self._features.get(INTERVENTION, {})),
        )

    def _camera(self, key: str) -> Camera:
        feature = self._features[key]
        if feature["dtype"] not in ("video", "image"):
            raise StoreError(
                f"{self.path} keeps {key} as {feature['dtype']}, a camera must be of dtype video or image; "
                "give the feature another name"
            )
        sizes = dict(zip(feature["names"] or ("height", "width", "channels"), feature["shape"], strict=True))
        return Camera(name_in(key), height=int(sizes["height"]), width=int(sizes["width"]))

    def _vector(self, key: str, bounds: Mapping[str, Any]) -> Vector:
        feature = self._features[key]
        if len(feature["shape"]) != 1 or key not in bounds:
            raise StoreError(
                f"{self.path}: {key} must be a vector with an entry in meta/stats.json, "
                f"it has shape {feature['shape']}; "
                "`lerobot-edit-dataset --operation.type recompute_stats` writes the entry"
            )
        names = _flat_names(feature["names"]) or [f"{key}_{dim}" for dim in range(feature["shape"][0])]
        return Vector(tuple(names), low=tuple(bounds[key]["min"]), high=tuple(bounds[key]["max"]))


def _flat_names(names: Any) -> list[str]:
    # LeRobot datasets have a list, none, or lists under the name of a group ({"motors": [...]}).
    if isinstance(names, dict):
        return [name for group in names.values() for name in _flat_names(group)]
    return [str(name) for name in names or ()]


def _is_truth(feature: Mapping[str, Any]) -> bool:
    return feature.get("dtype") == "bool" and list(feature.get("shape", ())) == [1]


def _numbers(column: pa.ChunkedArray) -> np.ndarray:
    return as_rows(column).astype(np.float32)


def _scalar_rows(rows: pa.Table, name: str, default: np.ndarray) -> np.ndarray:
    if name not in rows.column_names:
        return default.astype(np.float32)
    return _numbers(rows[name])[:, 0].copy()


def _read_info(path: Path) -> dict[str, Any]:
    info = read_json(path / layout.INFO)
    version = str(info.get("codebase_version"))
    if not version.startswith("v3."):
        raise StoreError(
            f"{path} is a LeRobot dataset of version {version}, demoloom reads v3.x; convert it with "
            "`demoloom import`, which takes v2.1"
        )
    missing = [name for name in ("features", "fps", "data_path") if not info.get(name)]
    if missing:
        raise StoreError(f"{path / layout.INFO} has no {', '.join(missing)}; restore it from a copy")
    if not isinstance(info["fps"], int | float) or info["fps"] < 1 or info["fps"] % 1:
        raise StoreError(f"{path / layout.INFO} has fps {info['fps']!r}; it must be a whole number of 1 or more")
    return info


def _read_summaries(path: Path, count: int) -> list[EpisodeSummary]:
    try:
        with path.open("rb") as lines:
            return [EpisodeSummary.from_dict(json.loads(line)) for line in islice(lines, count)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"cannot read {path} ({error}); restore it from a copy, or delete the folder {path.parent} to read the "
            "dataset as a plain LeRobot dataset"
        ) from error


def _read_records(path: Path, count: int | None) -> list[dict[str, Any]]:
    """The rows of meta/episodes, but no statistics; those beyond `count` were never committed."""
    files = sorted((path / "meta" / "episodes").glob("*/*.parquet"))
    if not files and count != 0:
        raise StoreError(f"{path} has no meta/episodes: its writer was stopped before it finished; record it again")
    records: list[dict[str, Any]] = []
    for file in files:
        records += _read_table(file, lambda name: not name.startswith("stats/")).to_pylist()
    records = sorted(records, key=lambda record: record["episode_index"])[:count]
    if [record["episode_index"] for record in records] != list(range(len(records))):
        raise StoreError(f"{path}: the episodes in meta/episodes are not numbered 0, 1, 2, ...; merge the dataset anew")
    if count is not None and len(records) < count:
        raise StoreError(
            f"{path}: meta/info.json counts {count} episodes, meta/episodes holds {len(records)}; its writer was "
            "stopped, `demoloom validate --repair` keeps those that are whole"
        )
    return records


def _read_tasks(path: Path) -> dict[int, str]:
    table = _read_table(path / layout.TASKS)
    text = next(name for name in table.column_names if name != "task_index")
    return dict(zip(table["task_index"].to_pylist(), table[text].to_pylist(), strict=True))


def _read_stats(path: Path) -> dict[str, Any]:
    file = path / layout.STATS
    return read_json(file) if file.is_file() else {}


def _read_table(path: Path, wanted: Callable[[str], bool] = lambda name: True) -> pa.Table:
    """The columns of a file whose names are wanted."""
    try:
        with pq.ParquetFile(path) as file:
            return file.read([name for name in file.schema_arrow.names if wanted(name)])
    except (OSError, pa.ArrowInvalid) as error:
        raise StoreError(f"cannot read {path} ({error}); its writer was stopped, or it was damaged since") from error
