"""One dataset out of several."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..atomic import read_json
from ..clips import kept_codec
from ..create import Format
from ..dataset import EpisodeReader, open_dataset
from ..drafts import Draft, copy_of, with_edit, write_drafts
from ..episode import EpisodeSummary, Rows
from ..errors import ConfigError, SpecMismatch, StoreError
from ..lerobot_layout import INFO
from ..progress import Progress, silent
from ..spec import EpisodeSpec, Vector

if TYPE_CHECKING:
    from ..video import Codec


Labels = Literal["same", "shared"]


@dataclass(frozen=True)
class Merging:
    """How datasets that differ become one.

    Args:
        rename: put the name of its dataset before every id; otherwise two episodes of one id must be the same.
        widen: where only the bounds of a vector differ, take the widest; otherwise they must agree.
        labels: `same`: all must have the same labels; `shared`: keep those which all have.
    """

    rename: bool = False
    widen: bool = False
    labels: Labels = "same"


@dataclass(frozen=True)
class Merged:
    """What came of a merge.

    Args:
        num_episodes: in the new dataset.
        num_repeated: episodes that came again with the same content, and were stored once.
        skipped: datasets without an episode.
    """

    num_episodes: int
    num_repeated: int
    skipped: tuple[Path, ...]


def merge(
    paths: Sequence[Path],
    out: Path | str,
    format: Format,
    how: Merging | None = None,
    *,
    codec: Codec | None = None,
    progress: Progress = silent,
) -> Merged:
    """Write the episodes of several datasets, of either format, as a new one.

    Args:
        paths: of the datasets; one without an episode is skipped.
        out: where nothing stands yet.
        format: of the new dataset.
        how: what may differ.
        codec: how a LeRobot dataset keeps frames; None keeps them as they are: what is video is not encoded anew.
        progress: told of each episode.

    Raises:
        SpecMismatch: the datasets differ in more than `how` allows; the message lists the differences.
        StoreError: two episodes of one id differ, no dataset has an episode, something stands at `out`, or the disk
            is full.
    """
    how = how or Merging()
    skipped = tuple(path for path in paths if not _has_episodes(path))
    sources = [open_dataset(path) for path in paths if path not in skipped]
    if not sources:
        raise StoreError(f"none of the {len(paths)} datasets to merge has an episode")
    spec = merged_spec(sources, how)
    total = sum(len(source) for source in sources)
    drafts = merged_drafts(sources, spec, how)
    written = write_drafts(
        out, format, spec, drafts, codec=codec or kept_codec(sources), total=total, progress=progress
    )
    return Merged(written, total - written, skipped)


def merged_spec(sources: Sequence[EpisodeReader], how: Merging) -> EpisodeSpec:
    """The spec of the merged dataset; it says who drove if one of them does.

    Raises:
        SpecMismatch: the datasets differ in more than `how` allows; the message lists the differences.
    """
    spec = sources[0].spec
    for source in sources[1:]:
        first, other = spec, source.spec
        if how.labels == "shared":
            first, other = _with_labels(first, other.labels.keys()), _with_labels(other, first.labels.keys())
        if how.widen:
            first, other = _widened(first, other), _widened(other, first)
        first, other = _saying_who_drove(first, other), _saying_who_drove(other, first)
        if differences := first.all_differences(other):
            raise SpecMismatch(
                f"{source.path} (there) does not fit {sources[0].path} (here): {'; '.join(differences)}"
                f"{_remedy(first, other)}"
            )
        spec = first
    return spec


def merged_drafts(sources: Sequence[EpisodeReader], spec: EpisodeSpec, how: Merging) -> Iterator[Draft]:
    """The episodes of all sources, one source after the other; where one does not say who drove, nobody intervened.

    Raises:
        StoreError: two episodes of one id differ in what is known without reading their rows.
    """
    names = dataset_names([source.path for source in sources]) if how.rename else [""] * len(sources)
    _refuse_different(sources, names)
    for source, name in zip(sources, names, strict=True):
        for id in source.ids():
            draft = copy_of(source, id)
            if name:
                lineage = with_edit(draft.lineage, "rename", id_before=id)
                draft = replace(draft, id=_prefixed(name, id), lineage=lineage)
            yield draft if _has_columns_of(spec, source.spec) else _fitted(draft, spec)


def dataset_names(paths: Sequence[Path]) -> list[str]:
    """A name for each dataset, of as many of the last parts of its path as tell it from the others.

    Raises:
        ConfigError: two paths are the same.
    """
    parts = [path.resolve().parts[1:] for path in paths]
    for count in range(1, max(map(len, parts)) + 1):
        names = [re.sub(r"[^A-Za-z0-9._]+", "-", "-".join(one[-count:])).lstrip(".-") for one in parts]
        if len(set(names)) == len(names):
            return names
    raise ConfigError("a dataset is to be merged with itself under new names; name each only once")


def _has_episodes(path: Path) -> bool:
    # A LeRobot dataset in which no episode was saved lacks the files which a reader needs.
    info = path / INFO
    if info.is_file():
        return bool(read_json(info).get("total_episodes", 1))
    return len(open_dataset(path)) > 0


def _remedy(first: EpisodeSpec, other: EpisodeSpec) -> str:
    """What to say after differences which an option does away with."""
    if not _widened(first, other).all_differences(_widened(other, first)):
        return "; only bounds differ: --widen takes the widest"
    shared = _with_labels(first, other.labels.keys()), _with_labels(other, first.labels.keys())
    return "" if shared[0].all_differences(shared[1]) else "; --labels shared keeps those which both have"


def _with_labels(spec: EpisodeSpec, names: Collection[str]) -> EpisodeSpec:
    return replace(spec, labels={name: vector for name, vector in spec.labels.items() if name in names})


def _saying_who_drove(spec: EpisodeSpec, other: EpisodeSpec) -> EpisodeSpec:
    return replace(spec, intervention=spec.intervention or other.intervention)


def _widened(spec: EpisodeSpec, other: EpisodeSpec) -> EpisodeSpec:
    labels = {
        name: _widest(vector, other.labels[name]) if name in other.labels else vector
        for name, vector in spec.labels.items()
    }
    state, action = _widest(spec.state, other.state), _widest(spec.action, other.action)
    return replace(spec, state=state, action=action, labels=labels)


def _widest(one: Vector, other: Vector) -> Vector:
    if one.names != other.names:
        return one
    low = tuple(map(float, np.minimum(one.low, other.low)))
    return Vector(one.names, low, tuple(map(float, np.maximum(one.high, other.high))))


def _refuse_different(sources: Sequence[EpisodeReader], names: Sequence[str]) -> None:
    """Refuse before hours of copying what the store would refuse after; it compares the rows as well."""
    seen: dict[str, tuple[EpisodeSummary, Path]] = {}
    for source, name in zip(sources, names, strict=True):
        for summary in source.summaries():
            id = _prefixed(name, summary.id) if name else summary.id
            there, path = seen.setdefault(id, (summary, source.path))
            if replace(there, lineage={}) != replace(summary, lineage={}):
                raise StoreError(
                    f"episode {id!r} of {source.path} is another than that of {path}; "
                    "--rename puts the name of its dataset before every id"
                )


def _prefixed(name: str, id: str) -> str:
    return f"{name}-{id}"


def _has_columns_of(spec: EpisodeSpec, other: EpisodeSpec) -> bool:
    return (spec.labels.keys(), spec.intervention) == (other.labels.keys(), other.intervention)


def _fitted(draft: Draft, spec: EpisodeSpec) -> Draft:
    """The draft with those labels only which the spec has, and with who drove where the spec says so."""

    def blocks() -> Iterator[Rows]:
        for rows in draft.blocks():
            drove = np.zeros(len(rows), bool) if rows.intervention is None else rows.intervention
            labels = {name: rows.labels[name] for name in spec.labels}
            yield replace(rows, labels=labels, intervention=drove if spec.intervention else None)

    return replace(draft, blocks=blocks)
