"""How the numbers of a dataset are spread, from its columns alone; no frame is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...storage.columns import ACTION, INTERVENTION, REWARD, SCORE, STATE, TRUST, label_key, names_of
from ...storage.content import stamp
from ...storage.dataset import EpisodeReader
from ...storage.episode import EpisodeSummary
from ...storage.progress import Progress
from ...storage.quality import read_quality
from ...storage.quality.table import NUMERIC_SCORES
from ...storage.spec import EpisodeSpec

#: Episodes whose columns are read at most; of more, so many evenly spread.
MOST_EPISODES = 1000
#: Numbers kept in memory at most (16 MB); of more, every second row is kept, or every third, and so on.
MOST_NUMBERS = 4_000_000
#: Bars of a histogram at most.
MOST_BARS = 32
#: Without those that stand under another name among the episodes' own.
QUALITY_SCORES = tuple(name for name in NUMERIC_SCORES if name != "length")


@dataclass(frozen=True)
class Distribution:
    """One named quantity.

    Args:
        name: of the dimension, or what an episode is measured by.
        values: (N,) finite numbers; N may be 0.
        limits: least and greatest value that the spec allows, where it says so.
        num_unfit: how many numbers were NaN or infinite, and are not among the values.
    """

    name: str
    values: np.ndarray
    limits: tuple[float, float] | None = None
    num_unfit: int = 0

    @classmethod
    def of(cls, name: str, values: np.ndarray, limits: tuple[float, float] | None = None) -> Distribution:
        """Keep the finite ones of (N,) numbers and count the others."""
        finite = np.isfinite(values)
        return cls(name, values[finite], limits, int((~finite).sum()))

    @property
    def is_constant(self) -> bool:
        """Whether there is at most one value."""
        return len(self.values) == 0 or bool(self.values.min() == self.values.max())

    def bars(self, most: int = MOST_BARS) -> tuple[np.ndarray, np.ndarray]:
        """Counts (B,) and edges (B + 1,); whole numbers that span no more than `most` have a bar each."""
        low, high = float(self.values.min()), float(self.values.max())
        if high - low < most and np.array_equal(self.values, np.rint(self.values)):
            return np.histogram(self.values, np.arange(low - 0.5, high + 1))
        return np.histogram(self.values.astype(np.float64), most)


@dataclass(frozen=True)
class Distributions:
    """What `measure` found.

    Args:
        groups: title -> the quantities under it.
        num_episodes: how many episodes were read.
        stride: every so many rows one was kept.
    """

    groups: Mapping[str, Sequence[Distribution]]
    num_episodes: int
    stride: int


def measure(reader: EpisodeReader, summaries: Sequence[EpisodeSummary], progress: Progress) -> Distributions:
    """Read the columns of the episodes, or of evenly spread ones of very many, and sort them by quantity.

    Quality scores are among them if they were stored and the dataset has not changed since.
    """
    chosen = [summaries[number] for number in evenly(len(summaries), MOST_EPISODES)]
    width = sum(len(names) for names in names_of(reader.spec).values())
    stride = max(1, -(-sum(one.length for one in chosen) * width // MOST_NUMBERS))
    columns = _read_columns(reader, chosen, stride, progress)
    groups = {"Episodes": _of_episodes(summaries), **_of_rows(columns, reader.spec)} if summaries else {}
    return Distributions(groups | _of_quality(reader), len(chosen), stride)


def evenly(count: int, most: int) -> list[int]:
    """At most `most` of 0 .. count - 1, the first and the last among them."""
    return sorted({round(number) for number in np.linspace(0, count - 1, min(count, most))})


def _read_columns(
    reader: EpisodeReader, chosen: Sequence[EpisodeSummary], stride: int, progress: Progress
) -> dict[str, np.ndarray]:
    kept: dict[str, list[np.ndarray]] = {name: [] for name in names_of(reader.spec)}
    seen = 0
    for number, summary in enumerate(chosen):
        columns = reader.columns(summary.id)
        for name, parts in kept.items():
            # As if the episodes were one table of which every `stride`-th row is kept.
            parts.append(columns[name].reshape(summary.length, -1)[-seen % stride :: stride].astype(np.float32))
        seen += summary.length
        progress(number + 1, len(chosen), "columns")
    return {name: np.concatenate(parts) for name, parts in kept.items() if parts}


def _of_episodes(summaries: Sequence[EpisodeSummary]) -> list[Distribution]:
    return [
        Distribution.of("steps", np.array([one.length for one in summaries], np.float64)),
        Distribution.of("best score", np.array([one.score_max for one in summaries])),
        Distribution.of("last score", np.array([one.score_last for one in summaries])),
        Distribution.of("least trust", np.array([one.trust_min for one in summaries])),
    ]


def _of_rows(columns: Mapping[str, np.ndarray], spec: EpisodeSpec) -> dict[str, list[Distribution]]:
    vectors = {ACTION: ("Action", spec.action), STATE: ("State", spec.state)}
    vectors |= {label_key(name): (f"Label: {name}", vector) for name, vector in spec.labels.items()}
    groups = {
        title: [
            Distribution.of(name, columns[column][:, dim], (vector.low[dim], vector.high[dim]))
            for dim, name in enumerate(vector.names)
        ]
        for column, (title, vector) in vectors.items()
    }
    told = (SCORE, TRUST, REWARD, *([INTERVENTION] if spec.intervention else []))
    steps = [Distribution.of(name.split(".")[-1], columns[name][:, 0]) for name in told]
    return {"Steps": steps, **groups}


def _of_quality(reader: EpisodeReader) -> dict[str, list[Distribution]]:
    table = read_quality(reader.path)
    if table is None or not table.episodes or table.stamp != stamp(reader):
        return {}
    scores = {name: [float(getattr(one, name)) for one in table.episodes.values()] for name in QUALITY_SCORES}
    return {"Quality of episodes": [Distribution.of(name, np.array(values)) for name, values in scores.items()]}
