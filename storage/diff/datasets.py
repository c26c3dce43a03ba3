"""What changed from one dataset to another: layout, episodes, lineage and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..content import episode_digests, hash_digests, lossy_codec
from ..dataset import EpisodeReader
from ..episode import EpisodeSummary
from ..progress import Progress, silent
from ..quality import quality_of
from .episodes import episode_differences
from .lineage import lineage_differences
from .scores import ScoreShift, score_shifts


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
        changed={id: episode_differences(left, right, id) for id in shared},
        lineage=lineage_differences(*summaries),
        scores=score_shifts(quality_of(left, progress), quality_of(right, progress)),
    )


def _outcomes(left: list[EpisodeSummary], right: list[EpisodeSummary]) -> dict[str, tuple[int, int]]:
    counts = Counter(one.outcome for one in left), Counter(one.outcome for one in right)
    pairs = {str(outcome): (counts[0][outcome], counts[1][outcome]) for outcome in counts[0] | counts[1]}
    return {outcome: pair for outcome, pair in pairs.items() if pair[0] != pair[1]}


def _spec_differences(left: EpisodeReader, right: EpisodeReader) -> list[str]:
    found = left.spec.all_differences(right.spec)
    codecs = lossy_codec(left.path), lossy_codec(right.path)
    if codecs[0] != codecs[1]:
        found.append(f"frames are {_codec_text(codecs[0])} here and {_codec_text(codecs[1])} there")
    return found


def _codec_text(codec: Mapping[str, Any] | None) -> str:
    return "exact" if codec is None else f"lossy ({', '.join(f'{name} {value}' for name, value in codec.items())})"
