"""Stage `starts`: moments at which a policy that failed was, to be shown from there what to do.

Demonstrations from the states that a policy itself gets into teach it what demonstrations from where an expert goes
never show (Ross et al. 2011, DAgger). Here the world model makes it cheap: it starts from the recorded frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...storage.dataset import EpisodeReader, open_dataset
from ...storage.drafts import Draft, copy_of, with_edit, write_drafts
from ...storage.episode import EpisodeSummary
from ...storage.errors import ConfigError


def choose_starts(evaluation: Path, num_starts: int, out: Path) -> dict[str, Any]:
    """Write moments of an evaluation's failed episodes as a dataset of episodes of one row each.

    Each failed episode gives as many as the others: where it started, and moments spread evenly up to its middle,
    after which a policy that is stuck mostly stays where it is.

    Args:
        evaluation: episodes of one contestant in reality.
        num_starts: at most so many moments, and at least one of each failure.
        out: folder of a new Zarr store.

    Returns:
        How many episodes were evaluated and failed, and how many moments were chosen.

    Raises:
        StoreError: there is no such evaluation.
        ConfigError: no episode failed.
    """
    reader = open_dataset(evaluation)
    failed = failures(reader)
    if not failed:
        raise ConfigError(
            f"the policy solved all {len(reader)} episodes of {evaluation}; evaluate it from more initial states to "
            "find where it fails"
        )
    drafts = list(_moments(reader, failed, max(1, num_starts // len(failed))))
    write_drafts(out, "zarr", reader.spec, drafts)
    return {"num_episodes": len(reader), "num_failures": len(failed), "num_starts": len(drafts)}


def failures(reader: EpisodeReader) -> list[EpisodeSummary]:
    """The episodes that did not succeed."""
    return [summary for summary in reader.summaries() if summary.outcome != "success"]


def _moments(reader: EpisodeReader, failed: Sequence[EpisodeSummary], num_each: int) -> Iterator[Draft]:
    for summary in failed:
        for row in np.unique(np.linspace(0, summary.length // 2, num_each).astype(int)).tolist():
            draft = copy_of(reader, summary.id, row, row + 1)
            lineage = with_edit(draft.lineage, "moment", row=row)
            yield replace(draft, id=f"{summary.id}-row-{row:04d}", lineage=lineage)
