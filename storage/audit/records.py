"""What meta/episodes, meta/info.json and the sidecar say of each other, without reading a row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise

from .. import lerobot_layout as layout
from .finding import Finding
from .manifest import RESTORE, Manifest, Record

#: How far a video's range may be from its rows, in frames: LeRobot adds up rounded times.
_TOLERANCE_FRAMES = 0.1

_ANEW = "restore meta/episodes from a copy, or merge the dataset anew"


def check_records(manifest: Manifest) -> Iterator[Finding]:
    """Yield all that disagrees in the metadata."""
    yield from _numbering(manifest.records)
    yield from _row_ranges(manifest.records)
    for record in manifest.records:
        yield from _check_record(manifest, record)
    yield from _overlaps(manifest)
    yield from _uncounted(manifest)
    yield from check_counts(manifest)
    yield from _check_shapes(manifest)


def check_counts(manifest: Manifest) -> Iterator[Finding]:
    """Yield each count of meta/info.json that is not what the records come to."""
    for name, value in counts_of(manifest).items():
        if manifest.info.get(name) != value:
            message = f"{name} is {manifest.info.get(name)!r}, meta/episodes and meta/tasks.parquet give {value!r}"
            yield Finding(field=layout.INFO, message=f"{message}; --repair corrects it", mend="info")


def counts_of(manifest: Manifest) -> dict[str, object]:
    """The counts that meta/info.json must hold."""
    counts: dict[str, object] = {
        "total_episodes": len(manifest.records),
        "total_frames": sum(record.length for record in manifest.records),
    }
    if manifest.tasks:
        counts["total_tasks"] = len(manifest.tasks)
    splits = manifest.info.get("splits")
    if isinstance(splits, dict) and set(splits) == {"train"}:
        counts["splits"] = {"train": f"0:{len(manifest.records)}"}
    return counts


def _numbering(records: tuple[Record, ...]) -> Iterator[Finding]:
    for number, count in Counter(record.number for record in records).items():
        if count > 1:
            message = f"{count} records have episode_index {number}; {_ANEW}"
            yield Finding(field="episode_index", message=message)
    for before, after in pairwise([-1, *sorted({record.number for record in records})]):
        if after != before + 1:
            # LeRobot looks episodes up by position: after a gap, every episode shows the video of another.
            message = f"episodes {before + 1} .. {after - 1} have no record, and LeRobot takes others for those after"
            yield Finding(field="episode_index", message=f"{message}; {_ANEW}")


def _row_ranges(records: tuple[Record, ...]) -> Iterator[Finding]:
    end = 0
    for record in records:
        if record.first_row != end:
            message = f"its rows begin at {record.first_row}, those of the episode before end at {end}; {_ANEW}"
            yield Finding(field="dataset_from_index", message=message, episode=record.id)
        end = record.end_row


def _check_record(manifest: Manifest, record: Record) -> Iterator[Finding]:
    rows = record.end_row - record.first_row
    if record.length < 1 or rows != record.length:
        message = f"it has length {record.length} and rows {record.first_row} .. {record.end_row - 1}; {_ANEW}"
        yield Finding(field="length", message=message, episode=record.id)
    if manifest.tasks and (unknown := [task for task in record.tasks if task not in manifest.tasks.values()]):
        message = f"its task {unknown[0]!r} is not in {layout.TASKS}; {RESTORE}"
        yield Finding(field="tasks", message=message, episode=record.id)
    for key, span in record.spans.items():
        frames = (span.end_s - span.start_s) * manifest.fps
        first = span.start_s * manifest.fps
        if not abs(frames - record.length) <= _TOLERANCE_FRAMES:
            message = f"its range in {span.file} has {frames:g} frames for {record.length} rows; {_ANEW}"
            yield Finding(field=key, message=message, episode=record.id)
        elif abs(first - round(first)) > _TOLERANCE_FRAMES:
            message = f"its range in {span.file} begins at {span.start_s:.4f} s, between two frames; {_ANEW}"
            yield Finding(field=key, message=message, episode=record.id)


def _overlaps(manifest: Manifest) -> Iterator[Finding]:
    by_file: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in manifest.records:
        for key, span in record.spans.items():
            by_file[key, span.file].append(record)
    for (key, file), records in by_file.items():
        records.sort(key=lambda record: record.spans[key].start_s)
        for before, after in pairwise(records):
            shared = (before.spans[key].end_s - after.spans[key].start_s) * manifest.fps
            if shared > _TOLERANCE_FRAMES:
                message = f"its range in {file} shares {round(shared)} frames with that of episode {before.id!r}"
                yield Finding(field=key, message=f"{message}; {_ANEW}", episode=after.id)


def _uncounted(manifest: Manifest) -> Iterator[Finding]:
    for record in manifest.uncounted:
        message = "a killed writer left it, and meta/info.json does not count it in; --repair moves its files away"
        yield Finding(field="tail", message=message, severity="warning", episode=record.id, mend="tail")


def _check_shapes(manifest: Manifest) -> Iterator[Finding]:
    for name, feature in manifest.features.items():
        names = feature.get("names")
        if isinstance(names, list) and len(feature["shape"]) == 1 and len(names) != feature["shape"][0]:
            message = f"it has shape {feature['shape']} and {len(names)} names {names} in {layout.INFO}"
            yield Finding(field=name, message=f"{message}; correct the one that is wrong")
