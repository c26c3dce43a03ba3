"""Which runs fed a dataset, as the lineage of its episodes tells."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .dataset import EpisodeReader


@dataclass(frozen=True)
class FeedingRun:
    """One source of a dataset's episodes, as their lineage tells it.

    Args:
        stage: which stage made them; empty for data that no stage made.
        code: version of the code.
        world: what was driven: its name, or the hash of its checkpoint.
        stream: what drove it.
        seed: the run's.
        source: the dataset or file they were imported from; empty for those made here.
        num_episodes: how many came of it.
    """

    stage: str
    code: str
    world: str
    stream: str
    seed: int | None
    source: str
    num_episodes: int


def runs_of(reader: EpisodeReader) -> list[FeedingRun]:
    """The runs that fed a dataset, each with its number of episodes, in the order in which they are first met."""
    counts = Counter(_run_of(summary.lineage) for summary in reader.summaries())
    return [replace(run, num_episodes=count) for run, count in counts.items()]


def _run_of(lineage: Mapping[str, Any]) -> FeedingRun:
    """The run that an episode of this lineage is of, as if it were its only one."""
    plan, source = _mapping(lineage.get("plan")), _mapping(lineage.get("source"))
    return FeedingRun(
        stage=str(plan.get("stage") or lineage.get("stage", "")),
        code=str(lineage.get("code", "")),
        world=_named(lineage.get("world")),
        stream=_named(plan.get("stream")),
        seed=plan.get("run_seed"),
        source=str(source.get("dataset") or source.get("file", "")),
        num_episodes=1,
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _named(value: Any) -> str:
    """A world or a stream in a few words: what in its plain data tells it apart."""
    if not isinstance(value, Mapping):
        return "" if value is None else str(value)
    found = [value[name] for name in ("name", "checkpoint") if value.get(name)]
    return " ".join(map(str, found)) or json.dumps(value, sort_keys=True)
