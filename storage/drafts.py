"""Episodes to be written, wherever their rows come from, and a new dataset of them.

Everything that makes a dataset out of others (converting, merging, selecting, re-timing, importing) makes drafts;
the sources are only read, a block ahead of what is written, and no more than some megabytes of rows are in memory,
however long an episode is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .clips import Clip, clips_of
from .create import Format, new_dataset
from .dataset import EpisodeReader
from .episode import Outcome, Rows
from .progress import Progress, silent
from .read_ahead import read_ahead
from .recorder import EpisodeRecorder, EpisodeStore, block_length
from .spec import EpisodeSpec

if TYPE_CHECKING:
    from .video import Codec


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An episode to be written: what is known of it as a whole, and its rows a block at a time.

    Args:
        id, index, seed, task, outcome, reason, lineage: as in `Episode`.
        blocks: gives all rows in order, in blocks of a few megabytes.
        clips: camera name -> the same frames as video, where they are that already.
    """

    id: str
    index: int
    seed: int
    task: str
    outcome: Outcome
    blocks: Callable[[], Iterator[Rows]]
    reason: str = ""
    lineage: Mapping[str, Any] = field(default_factory=dict)
    clips: Mapping[str, Clip] = field(default_factory=dict)


def copy_of(source: EpisodeReader, id: str, start: int = 0, stop: int | None = None) -> Draft:
    """A stored episode, or its rows start .. stop - 1, to be written as it is.

    Raises:
        StoreError: the episode is not there.
    """
    summary = source.summary(id)
    stop = summary.length if stop is None else stop
    is_whole = (start, stop) == (0, summary.length)
    return Draft(
        id=id,
        index=summary.index,
        seed=summary.seed,
        task=summary.task,
        outcome=summary.outcome,
        reason=summary.reason,
        lineage=summary.lineage,
        blocks=lambda: read_blocks(source, id, start, stop),
        clips=clips_of(source, id) if is_whole else {},
    )


def with_edit(lineage: Mapping[str, Any], edit: str, **settings: Any) -> dict[str, Any]:
    """A lineage which says that the episode was changed after it was recorded, and how."""
    return {**lineage, "edits": [*lineage.get("edits", ()), {"edit": edit, **settings}]}


def read_blocks(source: EpisodeReader, id: str, start: int, stop: int) -> Iterator[Rows]:
    """Rows start .. stop - 1 of a stored episode in blocks of a few megabytes."""
    for first, last in block_ranges(start, stop, rows_per_block(source.spec)):
        yield source.rows(id, first, last)


def block_ranges(start: int, stop: int, count: int) -> Iterator[tuple[int, int]]:
    """Rows start .. stop - 1 in blocks of `count`: the first row of each, and the one after its last."""
    return ((first, min(first + count, stop)) for first in range(start, stop, count))


def rows_per_block(spec: EpisodeSpec) -> int:
    """How many rows take a few megabytes."""
    return block_length(sum(camera.height * camera.width * 3 for camera in spec.cameras))


def write_drafts(
    path: Path | str,
    format: Format,
    spec: EpisodeSpec,
    drafts: Iterable[Draft],
    *,
    codec: Codec | None = None,
    total: int = 0,
    progress: Progress = silent,
) -> int:
    """Write a new dataset; it stands at `path` when all is written, or not at all.

    Args:
        path: where nothing stands yet.
        format: of the new dataset.
        spec: of all drafts.
        drafts: each may come twice with the same content, and is stored once.
        codec: how a LeRobot dataset keeps frames; None keeps them exactly. Clips of that codec are taken over.
        total: number of drafts, for the progress; 0: unknown.
        progress: told of each episode.

    Returns:
        The number of episodes written.

    Raises:
        ConfigError: there is no such format, or it cannot hold the spec.
        InvalidEpisode: a draft breaks the spec.
        StoreError: something stands at `path`, two drafts of one id differ, or the disk is full.
    """
    blocks = ((one, rows) for one in enumerate(drafts, start=1) for rows in one[1].blocks())
    written = 0
    with new_dataset(path, format, spec, codec=codec) as store, closing(read_ahead(blocks)) as items:
        for (number, draft), of_one in groupby(items, key=itemgetter(0)):
            written += record_draft(store, draft, (rows for _, rows in of_one))
            progress(number, total, draft.id)
    return written


def record_draft(store: EpisodeStore, draft: Draft, blocks: Iterable[Rows] | None = None) -> bool:
    """Add a draft to a store; true if it is new, false if the same episode is there already.

    Args:
        store: of the draft's spec.
        draft: the episode to add.
        blocks: its rows, where they were read before.

    Raises:
        InvalidEpisode: it breaks the spec.
        StoreError: an episode of this id with other content is there, or the disk is full.
    """
    with _begin(store, draft) as recorder:
        for rows in draft.blocks() if blocks is None else blocks:
            recorder.write(rows)
        return recorder.commit(draft.outcome, draft.reason, draft.lineage)


def _begin(store: EpisodeStore, draft: Draft) -> EpisodeRecorder:
    if draft.clips:
        from .lerobot_store import LeRobotStore

        if isinstance(store, LeRobotStore):
            return store.record(draft.id, index=draft.index, seed=draft.seed, task=draft.task, clips=draft.clips)
    return store.record(draft.id, index=draft.index, seed=draft.seed, task=draft.task)
