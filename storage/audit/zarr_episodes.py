"""An audit of a Zarr store: each episode's folder, arrays, numbers and digest.

What a killed writer leaves under a temporary name is no fault: readers pass over it and the next writer removes it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ..atomic import TEMPORARY_PREFIX
from ..columns import columns_of, image_key, names_of
from ..episode import EpisodeSummary, Rows
from ..errors import ConfigError, InvalidEpisode, StoreError
from ..progress import Progress
from ..recorder import block_length
from ..spec import EpisodeSpec, read_spec
from ..validation import validate_ending, validate_identity, validate_spec
from ..zarr_store import FORMAT_VERSION, ZarrStore
from .contents import CHANGED, Contents
from .finding import Finding
from .row_checks import REPLACE, out_of_bounds, unfit_numbers
from .tally import Tally

_QUARANTINE = "--repair moves it to the quarantine"


def audit_zarr(path: Path, tally: Tally, progress: Progress) -> Iterator[Finding]:
    """Yield all that is wrong with the store at `path`; rows are read in blocks of a few megabytes."""
    try:
        spec = read_spec(path / "spec.json")
        validate_spec(spec)
        _check_version(path)
    except (StoreError, ConfigError, TypeError, AttributeError) as error:
        yield Finding(field="spec.json", message=str(error))
        return
    store, contents, summaries = ZarrStore(path, spec), Contents(), []
    folders = sorted((path / "episodes").iterdir()) if (path / "episodes").is_dir() else []
    folders = [folder for folder in folders if not folder.name.startswith(TEMPORARY_PREFIX)]
    for number, folder in enumerate(folders):
        progress(number, len(folders), folder.name)
        try:
            summary, digest = _read_head(folder)
        except ValueError as error:
            yield _torn(folder, "zarr.json", f"it is no whole episode ({error}); {_QUARANTINE}")
            continue
        summaries.append(summary)
        tally.episodes += 1
        yield from _check_head(folder, summary)
        yield from _check_episode(store, folder, summary, digest, contents, tally)
    yield from tally.findings()
    yield from contents.identical()
    yield from _duplicates(summaries)


def _check_version(path: Path) -> None:
    version = json.loads((path / "spec.json").read_text(encoding="utf-8")).get("format_version")
    if version != FORMAT_VERSION:
        raise StoreError(
            f"{path / 'spec.json'} has format version {version}, this version of demoloom reads {FORMAT_VERSION}; "
            "install the one that wrote it"
        )


def _read_head(folder: Path) -> tuple[EpisodeSummary, str]:
    try:
        attributes = dict(json.loads((folder / "zarr.json").read_text(encoding="utf-8"))["attributes"])
        return EpisodeSummary.from_dict(attributes["summary"]), str(attributes["digest"])
    except KeyError as error:
        raise ValueError(f"zarr.json has no {error}") from error
    except (OSError, TypeError) as error:
        raise ValueError(str(error)) from error


def _check_head(folder: Path, summary: EpisodeSummary) -> Iterator[Finding]:
    if summary.id != folder.name:
        yield Finding(
            field="id",
            message=f"its folder is {folder.name!r} and its id {summary.id!r}; rename the folder to the id",
            episode=folder.name,
        )
    try:
        validate_identity(summary.id, summary.index, summary.seed, summary.task)
        validate_ending(summary.id, summary.length, summary.outcome, summary.reason, summary.lineage)
    except InvalidEpisode as error:
        yield Finding(field="summary", message=f"{error}; {REPLACE}", episode=folder.name)


def _check_episode(
    store: ZarrStore, folder: Path, summary: EpisodeSummary, stored: str, contents: Contents, tally: Tally
) -> Iterator[Finding]:
    wrong = [_torn(folder, name, what) for name, what in _wrong_arrays(folder, store.spec, summary.length)]
    yield from wrong
    if wrong:
        return
    digest = contents[folder.name]
    try:
        for start, rows in _blocks(store, folder.name, summary.length):
            _check_rows(folder.name, start, rows, store.spec, tally)
            digest.update(rows)
    except StoreError as error:
        contents.forget(folder.name)
        yield _torn(folder, "arrays", str(error))
        return
    if digest.finish(summary) != stored:
        yield _torn(folder, "digest", f"{CHANGED}; {_QUARANTINE}")


def _wrong_arrays(folder: Path, spec: EpisodeSpec, length: int) -> Iterator[tuple[str, str]]:
    """Each array whose shape or dtype is not what the spec and the episode's length ask for."""
    expected: dict[str, tuple[list[int], str]] = {
        image_key(camera.name): ([length, camera.height, camera.width, 3], "uint8") for camera in spec.cameras
    }
    expected["columns"] = ([length, sum(map(len, names_of(spec).values()))], "float32")
    for name, (shape, dtype) in expected.items():
        try:
            found = json.loads((folder / name / "zarr.json").read_text(encoding="utf-8"))
            if (found["shape"], found["data_type"]) != (shape, dtype):
                yield (
                    name,
                    (
                        f"it has shape {found['shape']} and dtype {found['data_type']}, expected {shape} and {dtype} "
                        f"for {length} rows; {_QUARANTINE}"
                    ),
                )
        except (OSError, ValueError, KeyError) as error:
            yield name, f"the array cannot be read ({error}); {_QUARANTINE}"


def _blocks(store: ZarrStore, id: str, length: int) -> Iterator[tuple[int, Rows]]:
    frames = sum(camera.height * camera.width * 3 for camera in store.spec.cameras)
    count = block_length(frames + 4 * sum(map(len, names_of(store.spec).values())))
    return ((start, store.rows(id, start, min(start + count, length))) for start in range(0, length, count))


def _check_rows(id: str, start: int, rows: Rows, spec: EpisodeSpec, tally: Tally) -> None:
    tally.rows += len(rows)
    tally.frames += len(rows) * len(rows.images)
    dims = names_of(spec)
    for name, column in columns_of(rows).items():
        values = column.reshape(len(rows), -1)
        tally.add(id, unfit_numbers(name, values, dims[name], start))
        tally.add(id, out_of_bounds(name, values, spec, start))


def _torn(folder: Path, field: str, message: str) -> Finding:
    return Finding(field=field, message=message, episode=folder.name, mend="quarantine", file=f"episodes/{folder.name}")


def _duplicates(summaries: list[EpisodeSummary]) -> Iterator[Finding]:
    for id, count in Counter(summary.id for summary in summaries).items():
        if count > 1:
            yield Finding(field="id", message=f"{count} episodes have this id; give each its own", episode=id)
