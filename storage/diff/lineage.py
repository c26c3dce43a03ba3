"""How the episodes of one dataset were made otherwise than those of another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..episode import EpisodeSummary

# Of each episode its own; that they differ says nothing.
_OWN_LINEAGE = ("seed", "index")
#: Values of one key of lineage that are named; of a key with more only their number is compared.
_MOST_VALUES = 5


def lineage_differences(left: Sequence[EpisodeSummary], right: Sequence[EpisodeSummary]) -> dict[str, tuple[str, str]]:
    """Dotted key of lineage -> the values here and there, with the number of episodes of each, where they differ."""
    counts = _lineage_values(left), _lineage_values(right)
    found = {}
    for key in sorted(counts[0] | counts[1]):
        values = counts[0].get(key, Counter()), counts[1].get(key, Counter())
        texts = _values_text(values[0]), _values_text(values[1])
        if values[0].keys() != values[1].keys() and texts[0] != texts[1]:
            found[key] = texts
    return found


def _lineage_values(summaries: Sequence[EpisodeSummary]) -> dict[str, Counter[str]]:
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
