"""One pass over the rows of a LeRobot dataset, a block at a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..columns import ACTION, LABEL_PREFIX, STATE, TRUTHS, names_of
from ..lerobot_layout import BOOKKEEPING
from .contents import Contents
from .finding import Finding
from .manifest import RESTORE, Manifest, Record
from .row_checks import out_of_bounds, unfit_numbers, wrong_counter, wrong_stamps
from .running_stats import RunningStats
from .tally import Fault, Tally
from .values import UNREADABLE, dtype_of, numbers_of

_BLOCK_ROWS = 4096
_NUMERIC = ("float", "int", "uint", "bool")


@dataclass(frozen=True)
class Run:
    """Rows start, start + 1, ... of an episode, as they follow each other in a file: column -> (T, D)."""

    record: Record
    start: int
    columns: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.columns["episode_index"])


class RowPass:
    """Reads each data file once; what is found of single rows goes to the tally, the rest is yielded.

    Args:
        manifest: of the dataset.
        stats: column -> its statistics, which are fed.
        contents: the digests, which are fed with all but bookkeeping.
        tally: of faults.
    """

    def __init__(self, manifest: Manifest, stats: Mapping[str, RunningStats], contents: Contents, tally: Tally) -> None:
        self._manifest = manifest
        self._stats = stats
        self._contents = contents
        self._tally = tally
        self._records = {record.number: record for record in manifest.records}
        self._seen: Counter[int] = Counter()
        self._unknown: Counter[int] = Counter()

    def read(self, file: str) -> Iterator[Finding]:
        """Read one data file; what cannot be read shows when the rows are counted."""
        try:
            parquet = pq.ParquetFile(self._manifest.path / file)
            yield from _wrong_schema(self._manifest, parquet.schema_arrow, file)
            names = [name for name in parquet.schema_arrow.names if self._is_numeric(name)]
            if "episode_index" in names:
                for batch in parquet.iter_batches(_BLOCK_ROWS, columns=names):
                    yield from self._read_block(batch, file)
        except UNREADABLE as error:
            yield Finding(field=file, message=f"it cannot be read ({error}); {RESTORE}")

    @property
    def is_whole(self) -> bool:
        """Whether just the rows that the records tell of were read."""
        return not self._unknown and all(self._seen[number] == one.length for number, one in self._records.items())

    def count(self) -> Iterator[Finding]:
        """After the last file: episodes with more or fewer rows than their records say."""
        for number, record in self._records.items():
            if self._seen[number] != record.length:
                self._contents.forget(record.id)
                if (self._manifest.path / record.data_file).is_file():
                    message = f"{self._seen[number]} rows were read, its record says {record.length}; {RESTORE}"
                    yield Finding(field="rows", message=message, episode=record.id)
        counted = {record.number for record in self._manifest.uncounted}
        for number, rows in self._unknown.items():
            if number not in counted:
                message = f"{rows} rows are of episode {number}, which has no record; restore meta/episodes"
                yield Finding(field="episode_index", message=message)

    def _is_numeric(self, name: str) -> bool:
        return str(self._manifest.features.get(name, {}).get("dtype", "")).startswith(_NUMERIC)

    def _read_block(self, batch: pa.RecordBatch, file: str) -> Iterator[Finding]:
        columns = {name: numbers_of(batch[name]) for name in batch.schema.names}
        for name in [name for name, values in columns.items() if values is None]:
            self._tally.add(None, [Fault(name, f"{file} has rows of different lengths or none", RESTORE)])
        usable = {name: values for name, values in columns.items() if values is not None}
        if "episode_index" not in usable:
            return
        numbers = np.nan_to_num(usable["episode_index"][:, 0], nan=-1)
        edges = [0, *(np.flatnonzero(np.diff(numbers)) + 1), len(numbers)]
        for start, stop in pairwise(edges):
            part = {name: values[start:stop] for name, values in usable.items()}
            yield from self._read_run(int(numbers[start]), part, file)

    def _read_run(self, number: int, columns: Mapping[str, np.ndarray], file: str) -> Iterator[Finding]:
        if number not in self._records:
            self._unknown[number] += len(columns["episode_index"])
            return
        run = Run(self._records[number], self._seen[number], columns)
        self._seen[number] += len(run)
        self._tally.rows += len(run)
        if file != run.record.data_file:
            message = f"{len(run)} of its rows are in {file}, its record says {run.record.data_file}; {RESTORE}"
            yield Finding(field="data", message=message, episode=run.record.id)
        self._tally.add(run.record.id, _faults(run, self._manifest))
        _hash(run, self._manifest, self._contents)
        for name, values in columns.items():
            if name in self._stats and values.shape[1] == self._stats[name].num_dims:
                self._stats[name].update(values)


def _faults(run: Run, manifest: Manifest) -> Iterator[Fault]:
    due = run.start + np.arange(len(run))
    if "timestamp" in run.columns:
        yield from wrong_stamps(run.columns["timestamp"][:, 0], manifest.fps, run.start)
    for name, expected in (("frame_index", due), ("index", due + run.record.first_row)):
        if name in run.columns:
            yield from wrong_counter(name, run.columns[name][:, 0], expected, run.start)
    if manifest.tasks and "task_index" in run.columns:
        yield from _unknown_tasks(run, manifest)
    for name, values in run.columns.items():
        yield from _wrong_width(name, values, manifest.features[name]["shape"], run.start)
        if name not in BOOKKEEPING:
            yield from unfit_numbers(name, values, _dims(manifest, name), run.start)
            if manifest.spec is not None:
                yield from out_of_bounds(name, values, manifest.spec, run.start)


def _wrong_width(name: str, values: np.ndarray, shape: list[int], start: int) -> Iterator[Fault]:
    if values.shape[1] != math.prod(shape):
        what = f"row {start} has {values.shape[1]} numbers, meta/info.json declares shape {shape}"
        yield Fault(name, what, "correct the shape and the names in meta/info.json", count=len(values))


def _unknown_tasks(run: Run, manifest: Manifest) -> Iterator[Fault]:
    found = run.columns["task_index"][:, 0]
    unknown = np.flatnonzero(~np.isin(found, list(manifest.tasks)))
    if len(unknown):
        what = f"row {run.start + unknown[0]} has task_index {found[unknown[0]]}, which no task has"
        yield Fault("task_index", what, f"meta/tasks.parquet lacks it, {RESTORE}", count=len(unknown))


def _dims(manifest: Manifest, name: str) -> list[str]:
    names = manifest.features[name].get("names")
    return [str(dim) for dim in names] if isinstance(names, list) else []


def _hash(run: Run, manifest: Manifest, contents: Contents) -> None:
    """Feed the digests with columns in the shape and dtype that `recorder.digest_of` hashes."""
    own = names_of(manifest.spec) if manifest.spec is not None else {}
    for name, values in run.columns.items():
        if name in own:
            vector = name in (STATE, ACTION) or name.startswith(LABEL_PREFIX)
            typed = values.astype(bool if name in TRUTHS else np.float32)
            contents[run.record.id].add(name, typed if vector else typed[:, 0])
        elif name not in BOOKKEEPING and not own:
            contents[run.record.id].add(name, values)


def _wrong_schema(manifest: Manifest, schema: pa.Schema, file: str) -> Iterator[Finding]:
    """Columns whose dtype or shape is not what meta/info.json declares, and those that are missing or undeclared."""
    declared = {name: feature for name, feature in manifest.features.items() if feature["dtype"] != "video"}
    for name in sorted(declared.keys() - set(schema.names)):
        yield Finding(field=name, message=f"{file} has no such column, meta/info.json declares it; {RESTORE}")
    for name in sorted(set(schema.names) - manifest.features.keys() - {"__index_level_0__"}):
        message = f"{file} has this column, meta/info.json does not declare it; declare it or drop it"
        yield Finding(field=name, message=message, severity="warning")
    for name, feature in declared.items():
        if name in schema.names and str(feature["dtype"]).startswith(_NUMERIC):
            found = dtype_of(schema.field(name).type)
            if found != feature["dtype"]:
                message = f"{file} holds {found}, meta/info.json declares {feature['dtype']}; correct one of them"
                yield Finding(field=name, message=message)
