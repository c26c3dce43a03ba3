"""What changed from one dataset to another: layout, episodes, lineage and scores."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .columns import frames_of
from .content import episode_digests, hash_digests, lossy_codec
from .dataset import EpisodeReader
from .drafts import block_ranges, rows_per_block
from .episode import EpisodeSummary
from .progress import Progress, silent
from .quality import QualityTable, quality_of
from .quality.table import NUMERIC_SCORES

# Of each episode its own; that they differ says nothing.
_OWN_LINEAGE = ("seed", "index")
# A digest is of what was recorded: a lossy dataset and a copy of its decoded frames differ in nothing but that.
_ONLY_AS_RECORDED = "the frames as they were recorded, before a lossy codec; what is read is the same"
#: Values of one key of lineage that are named; of a key with more only their number is compared.
_MOST_VALUES = 5


@dataclass(frozen=True)
class ScoreShift:
    """How the distribution of one score moved.

    Args:
        name: of the score.
        left, right: its median here and there.
        distance: greatest difference of the two cumulative distributions, in [0, 1] (the two-sample statistic of
            Kolmogorov and Smirnov): 0 is the same distribution, 1 two that do not overlap.
    """

    name: str
    left: float
    right: float
    distance: float


@dataclass(frozen=True)
class DatasetDiff:
    """The differences between two datasets, `left` and `right`; all lists are empty for the same one.

    Args:
        hashes: content hash of each; equal if nothing but lineage and storage differ.
        num_episodes: of each.
        num_rows: of each.
        outcomes: outcome -> episodes of each that ended so, where the numbers differ.
        spec: a sentence for each field of the spec, and for the codec.
        only_left, only_right: ids that the other lacks.
        changed: id in both -> what differs, a phrase for each field or column.
        lineage: key -> the values here and there, with the number of episodes of each, where they differ.
        scores: the scores whose distribution moved, most first.
    """

    hashes: tuple[str, str]
    num_episodes: tuple[int, int]
    num_rows: tuple[int, int]
    outcomes: Mapping[str, tuple[int, int]]
    spec: list[str]
    only_left: list[str]
    only_right: list[str]
    changed: Mapping[str, list[str]]
    lineage: Mapping[str, tuple[str, str]]
    scores: list[ScoreShift]

    @property
    def is_same(self) -> bool:
        """Whether both hold the same episodes; how they were made and are stored may differ."""
        return self.hashes[0] == self.hashes[1]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"same": self.is_same, **asdict(self)}


def diff(left: EpisodeReader, right: EpisodeReader, progress: Progress = silent) -> DatasetDiff:
    """Compare two datasets of any formats; nothing is written.

    Frames are read only of episodes in both whose content differs, and of datasets that keep no digests.

    Raises:
        StoreError: an episode is damaged.
    """
    digests = episode_digests(left, progress), episode_digests(right, progress)
    summaries = left.summaries(), right.summaries()
    shared = [id for id in digests[0] if id in digests[1] and digests[0][id] != digests[1][id]]
    return DatasetDiff(
        hashes=(hash_digests(left, digests[0]), hash_digests(right, digests[1])),
        num_episodes=(len(left), len(right)),
        num_rows=(sum(one.length for one in summaries[0]), sum(one.length for one in summaries[1])),
        outcomes=_outcomes(*summaries),
        spec=_spec_differences(left, right),
        only_left=[id for id in digests[0] if id not in digests[1]],
        only_right=[id for id in digests[1] if id not in digests[0]],
        changed={id: list(_episode_differences(left, right, id)) or [_ONLY_AS_RECORDED] for id in shared},
        lineage=_lineage_differences(*summaries),
        scores=score_shifts(quality_of(left, progress), quality_of(right, progress)),
    )


def _outcomes(left: list[EpisodeSummary], right: list[EpisodeSummary]) -> dict[str, tuple[int, int]]:
    counts = Counter(one.outcome for one in left), Counter(one.outcome for one in right)
    pairs = {str(outcome): (counts[0][outcome], counts[1][outcome]) for outcome in counts[0] | counts[1]}
    return {outcome: pair for outcome, pair in pairs.items() if pair[0] != pair[1]}


def _spec_differences(left: EpisodeReader, right: EpisodeReader) -> list[str]:
    found = left.spec.differences(right.spec)
    labels = sorted(left.spec.labels), sorted(right.spec.labels)
    if labels[0] != labels[1]:
        found.append(f"labels are {labels[0]} here and {labels[1]} there")
    codecs = lossy_codec(left.path), lossy_codec(right.path)
    if codecs[0] != codecs[1]:
        found.append(f"frames are {_codec_text(codecs[0])} here and {_codec_text(codecs[1])} there")
    return found


def _codec_text(codec: Mapping[str, Any] | None) -> str:
    return "exact" if codec is None else f"lossy ({', '.join(f'{name} {value}' for name, value in codec.items())})"


def _episode_differences(left: EpisodeReader, right: EpisodeReader, id: str) -> Iterator[str]:
    """A phrase for each field of the summary and each column in which an episode differs."""
    heads = left.summary(id).to_dict(), right.summary(id).to_dict()
    for name in heads[0]:
        if name != "lineage" and heads[0][name] != heads[1][name]:
            yield f"{name}: {heads[0][name]!r} -> {heads[1][name]!r}"
    columns = left.columns(id), right.columns(id)
    for name in columns[0] | columns[1]:
        yield from _array_difference(name, columns[0].get(name), columns[1].get(name))
    yield from _frame_differences(left, right, id)


def _array_difference(name: str, left: np.ndarray | None, right: np.ndarray | None) -> Iterator[str]:
    if left is None or right is None:
        yield f"{name}: only {'there' if left is None else 'here'}"
    elif left.shape != right.shape:
        yield f"{name}: shape {left.shape} -> {right.shape}"
    elif (steps := _differing_rows(left, right)).size:
        most = np.abs(left[steps].astype(np.float64) - right[steps]).max()
        yield f"{name}: differs in {len(steps)} of {len(left)} rows, first in row {steps[0]}, by {most:.4g} at most"


def _differing_rows(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.flatnonzero((left != right).reshape(len(left), -1).any(1))


def _frame_differences(left: EpisodeReader, right: EpisodeReader, id: str) -> Iterator[str]:
    lengths = left.summary(id).length, right.summary(id).length
    if lengths[0] != lengths[1] or left.spec.cameras != right.spec.cameras:
        return
    found: dict[str, list[int]] = {}
    for start, stop in block_ranges(0, lengths[0], rows_per_block(left.spec)):
        frames = frames_of(left.rows(id, start, stop)), frames_of(right.rows(id, start, stop))
        for name in frames[0]:
            found.setdefault(name, []).extend(start + _differing_rows(frames[0][name], frames[1][name]))
    for name, rows in found.items():
        if rows:
            yield f"{name}: differs in {len(rows)} of {lengths[0]} frames, first in row {rows[0]}"


def _lineage_differences(left: list[EpisodeSummary], right: list[EpisodeSummary]) -> dict[str, tuple[str, str]]:
    counts = _lineage_values(left), _lineage_values(right)
    found = {}
    for key in sorted(counts[0] | counts[1]):
        values = counts[0].get(key, Counter()), counts[1].get(key, Counter())
        texts = _values_text(values[0]), _values_text(values[1])
        if values[0].keys() != values[1].keys() and texts[0] != texts[1]:
            found[key] = texts
    return found


def _lineage_values(summaries: list[EpisodeSummary]) -> dict[str, Counter[str]]:
    """Dotted key of lineage -> how many episodes have which value there."""
    counts: dict[str, Counter[str]] = {}
    for summary in summaries:
        for key, value in _leaves(_shared(summary.lineage)):
            counts.setdefault(key, Counter())[value] += 1
    return counts


def _shared(lineage: Mapping[str, Any]) -> dict[str, Any]:
    """What an episode's lineage has in common with others of its run."""
    # `content` is `plan` with the hashes of folders in place of their paths, which differ from machine to machine.
    passed_over = (*_OWN_LINEAGE, "plan") if "content" in lineage else _OWN_LINEAGE
    shared = {name: value for name, value in lineage.items() if name not in passed_over}
    # Of each edit only its name: what was cut or judged differs from episode to episode.
    return shared | {"edits": ", ".join(str(edit["edit"]) for edit in lineage.get("edits", ())) or "none"}


def _leaves(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(inner, f"{key}.{name}" if key else str(name))
    else:
        yield key, value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _values_text(counts: Counter[str]) -> str:
    if not counts:
        return "nothing"
    if len(counts) > _MOST_VALUES:
        return f"{len(counts)} different values"
    return ", ".join(f"{value} ({count})" if len(counts) > 1 else value for value, count in counts.most_common())


def score_shifts(left: QualityTable, right: QualityTable) -> list[ScoreShift]:
    """The scores whose distributions differ, the most different first; none if a dataset has no episode."""
    if not left.episodes or not right.episodes:
        return []
    shifts = [
        ScoreShift(name, float(np.median(a)), float(np.median(b)), distribution_distance(a, b))
        for name, a, b in ((name, _values(left, name), _values(right, name)) for name in NUMERIC_SCORES)
    ]
    return sorted((shift for shift in shifts if shift.distance > 0), key=lambda shift: -shift.distance)


def _values(table: QualityTable, name: str) -> np.ndarray:
    return np.array([getattr(scores, name) for scores in table.episodes.values()], np.float64)


def distribution_distance(left: np.ndarray, right: np.ndarray) -> float:
    """Greatest difference of the cumulative distributions of two samples (Kolmogorov and Smirnov), in [0, 1]."""
    points = np.concatenate([left, right])
    shares = [np.searchsorted(np.sort(sample), points, side="right") / len(sample) for sample in (left, right)]
    return float(np.abs(shares[0] - shares[1]).max())
