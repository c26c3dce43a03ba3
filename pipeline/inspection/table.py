"""The table of all episodes that a page holds, as data for its script."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from ...storage.episode import EpisodeSummary
from .distributions import evenly

#: Characters of a task or a reason at most.
MOST_TEXT = 400


def episode_table(summaries: Sequence[EpisodeSummary], most_bytes: float) -> dict[str, Any]:
    """Rows (index, id, steps, outcome, best score, least trust, task, reason), of very many evenly spread ones.

    Texts that come again and again stand once, in `texts`; a row holds their number.
    """
    table = _table(summaries)
    size = len(json.dumps(table))
    if size <= most_bytes:
        return table
    return _table([summaries[number] for number in evenly(len(summaries), int(len(summaries) * most_bytes / size))])


def _table(summaries: Sequence[EpisodeSummary]) -> dict[str, Any]:
    texts: dict[str, int] = {}

    def number(text: str) -> int:
        return texts.setdefault(clip(text), len(texts))

    rows = [
        [
            one.index,
            one.id,
            one.length,
            number(one.outcome),
            _decimal(one.score_max),
            _decimal(one.trust_min),
            number(one.task),
            number(one.reason),
        ]
        for one in summaries
    ]
    return {"rows": rows, "texts": list(texts)}


def _decimal(value: float) -> float | None:
    # JSON has no NaN, which datasets of others may hold.
    return round(value, 3) if math.isfinite(value) else None


def clip(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 1] + "…"
