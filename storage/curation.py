"""Keeping the episodes that meet a condition on their scores, and the others apart with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .atomic import is_occupied, remove_folder
from .clips import kept_codec
from .condition import Condition, Kind, Value, parse_condition
from .create import Format
from .dataset import EpisodeReader, open_dataset
from .drafts import Draft, copy_of, with_edit, write_drafts
from .episode import EpisodeSummary
from .errors import StoreError
from .progress import Progress, silent
from .quality import EpisodeQuality, QualityTable, quality_of, score_dataset, write_quality

if TYPE_CHECKING:
    from .video import Codec

_KIND_OF_TYPE: Mapping[object, Kind] = {
    "int": "number", "float": "number", "str": "text", "Outcome": "text", "bool": "truth",
}  # fmt: skip

#: What a condition may name: the scores of an episode and the plain fields of its summary.
NAMES: Mapping[str, Kind] = {
    entry.name: _KIND_OF_TYPE[entry.type]
    for described in (EpisodeSummary, EpisodeQuality)
    for entry in fields(described)
    if entry.type in _KIND_OF_TYPE
}


def parse_keep(keep: str) -> Condition:
    """Read the condition under which an episode is kept, over `NAMES`; ConfigError if it cannot be read."""
    return parse_condition(keep, NAMES)


@dataclass(frozen=True)
class Verdict:
    """What a condition says of one episode.

    Args:
        id: of the episode.
        failing: the clauses that it does not meet; none if it is kept.
        reason: these with the episode's values, as a sentence; empty if it is kept.
        values: what the episode has of all that the condition names.
    """

    id: str
    failing: tuple[str, ...]
    reason: str
    values: Mapping[str, Value]

    @property
    def is_kept(self) -> bool:
        """Whether the episode meets the condition."""
        return not self.failing


def judge(reader: EpisodeReader, keep: Condition, table: QualityTable) -> list[Verdict]:
    """The verdict on each episode that is in the table, in the order of the dataset.

    Raises:
        ConfigError: the condition cannot be worked out for an episode (a division by zero).
    """
    scored = (summary for summary in reader.summaries() if summary.id in table.episodes)
    return [_verdict(summary, keep, table.episodes[summary.id]) for summary in scored]


def _verdict(summary: EpisodeSummary, keep: Condition, quality: EpisodeQuality) -> Verdict:
    values = {**vars(summary), **asdict(quality)}
    failing = keep.failing(values)
    parts = [f"{clause.text} does not hold ({clause.describe(values)})" for clause in failing]
    reason = f"rejected by curation: {'; '.join(parts)}" if parts else ""
    named = {name: values[name] for name in keep.names}
    return Verdict(summary.id, tuple(clause.text for clause in failing), reason, named)


def draft_of(reader: EpisodeReader, verdict: Verdict, keep: Condition) -> Draft:
    """A judged episode to be written, with the verdict in its lineage.

    A rejected demonstration gets the outcome `rejected`, so that nothing is trained on it; what failed in another way
    keeps its outcome, and its reason before the new one.
    """
    draft = copy_of(reader, verdict.id)
    lineage = with_edit(draft.lineage, "curate", keep=keep.text, values=dict(verdict.values))
    if verdict.is_kept:
        return replace(draft, lineage=lineage)
    outcome = "rejected" if draft.outcome == "success" else draft.outcome
    reason = "; ".join(part for part in (draft.reason, verdict.reason) if part)
    return replace(draft, lineage=lineage, outcome=outcome, reason=reason)


def curate(
    reader: EpisodeReader,
    keep: str,
    out: Path,
    rejected: Path,
    format: Format,
    *,
    codec: Codec | None = None,
    progress: Progress = silent,
) -> list[Verdict]:
    """Copy the episodes that meet a condition to `out` and all others to `rejected`; `reader` is only read.

    What is kept is scored anew, among itself, and the scores are kept with it.

    Args:
        reader: the dataset.
        keep: over `NAMES`, as in `condition`.
        out: where nothing stands yet.
        rejected: where nothing stands yet; nothing is made if all are kept.
        format: of both.
        codec: how LeRobot datasets keep frames; None keeps them as they are: what is video is not encoded anew.
        progress: told of each episode that is scored and of each that is written.

    Returns:
        The verdict on each episode.

    Raises:
        ConfigError: the condition cannot be read.
        StoreError: something stands at `out` or `rejected`, nothing would be kept, or the disk is full.
    """
    for path in (out, rejected):
        if is_occupied(path):
            raise StoreError(f"{path} exists already; choose another folder or move it away")
    condition = parse_keep(keep)
    verdicts = judge(reader, condition, quality_of(reader, progress))
    refuse_none_kept(verdicts, condition)
    drafts = [(verdict.is_kept, draft_of(reader, verdict, condition)) for verdict in verdicts]
    codec = codec or kept_codec([reader])
    write = partial(write_drafts, format=format, spec=reader.spec, codec=codec, total=len(drafts), progress=progress)
    with ExitStack() as undo:
        if others := [draft for is_kept, draft in drafts if not is_kept]:
            write(rejected, drafts=others)
            # Where the kept cannot be written, the next try must not be refused because of these.
            undo.callback(remove_folder, rejected)
        write(out, drafts=[draft for is_kept, draft in drafts if is_kept])
        undo.pop_all()
    write_quality(out, score_dataset(open_dataset(out)))
    return verdicts


def refuse_none_kept(verdicts: Collection[Verdict], keep: Condition) -> None:
    """Raise StoreError if no episode is kept; the message says which clauses rejected how many."""
    if any(verdict.is_kept for verdict in verdicts):
        return
    counts = ", ".join(f"{clause}: {count}" for clause, count in count_failing(verdicts).items()) or "there are none"
    raise StoreError(f"none of {len(verdicts)} episodes meets {keep.text!r} ({counts}); ask for less")


def count_failing(verdicts: Iterable[Verdict]) -> dict[str, int]:
    """How many episodes each clause rejected, most first; one that fails two counts for both."""
    return dict(Counter(clause for verdict in verdicts for clause in verdict.failing).most_common())
