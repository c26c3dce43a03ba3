"""The table of scores, for the page and for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

#: What a contestant is called in tables.
TITLES = {
    "policy": "policy trained on generated demonstrations",
    "baseline": "same policy trained on as many real demonstrations",
    "random": "random actions",
    "expert": "scripted expert",
}


def title(name: str) -> str:
    """What a contestant is called."""
    return TITLES.get(name, name)


def percent(interval: Mapping[str, float]) -> str:
    """`12 % (6 to 22)`."""
    return f"{100 * interval['value']:.0f} % ({100 * interval['low']:.0f} to {100 * interval['high']:.0f})"


def decimal(interval: Mapping[str, float]) -> str:
    """`0.62 (0.55 to 0.69)`."""
    return f"{interval['value']:.2f} ({interval['low']:.2f} to {interval['high']:.2f})"


def scores_text(scores: Sequence[Mapping[str, Any]]) -> str:
    """A table for a terminal, with 95 % intervals."""
    lines = [f"{'':<52} {'where':<8} {'episodes':>8}  {'success rate':<18} {'mean best score'}"]
    for row in scores:
        lines.append(
            f"{title(row['name']):<52} {row['place']:<8} {row['num_episodes']:>8}  "
            f"{percent(row['success_rate']):<18} {decimal(row['max_score'])}"
        )
    return "\n".join(lines)
