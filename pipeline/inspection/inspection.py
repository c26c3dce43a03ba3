"""All that an inspection says of a dataset, besides pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ...storage.content import content_hash, keeps_digests
from ...storage.dataset import EpisodeReader
from ...storage.episode import EpisodeSummary
from ...storage.progress import Progress, silent
from ...storage.runs import FeedingRun, runs_of
from ...storage.spec import EpisodeSpec
from .choice import shown_episodes
from .distributions import Distributions, measure


@dataclass(frozen=True)
class Inspection:
    """What `inspect_dataset` found.

    Args:
        name: of the dataset's folder.
        spec: of its episodes.
        summaries: of all episodes.
        shown: those which are shown one by one.
        distributions: of all quantities.
        content: hash of what the dataset holds (`storage.content`); None where every frame must be read for it.
        runs: what fed the dataset.
    """

    name: str
    spec: EpisodeSpec
    summaries: Sequence[EpisodeSummary]
    shown: Sequence[EpisodeSummary]
    distributions: Distributions
    content: str | None
    runs: Sequence[FeedingRun]

    @property
    def num_steps(self) -> int:
        """Rows of all episodes."""
        return sum(one.length for one in self.summaries)

    @property
    def duration_s(self) -> float:
        """Seconds of all episodes."""
        return self.num_steps / self.spec.fps

    @property
    def outcomes(self) -> Sequence[tuple[str, int]]:
        """How many episodes have each outcome, the most frequent first."""
        return Counter(one.outcome for one in self.summaries).most_common()

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """How many episodes have each outcome and reason, the most frequent first; success has no reason."""
        return Counter(f"{one.outcome}: {one.reason}" for one in self.summaries if one.reason).most_common()

    @property
    def tasks(self) -> list[tuple[str, int]]:
        """How many episodes have each task, the most frequent first."""
        return Counter(one.task for one in self.summaries).most_common()

    @property
    def cameras(self) -> str:
        """`top 96x96, wrist 640x480`: width × height."""
        return ", ".join(f"{camera.name} {camera.width}x{camera.height}" for camera in self.spec.cameras)


def inspect_dataset(reader: EpisodeReader, num_episodes: int = 48, progress: Progress = silent) -> Inspection:
    """Read all but the frames of a dataset.

    Args:
        reader: of the dataset.
        num_episodes: how many episodes are shown one by one at most; 0 means all.
        progress: counts the episodes whose columns were read.

    Raises:
        StoreError: an episode is damaged.
    """
    summaries = reader.summaries()
    return Inspection(
        name=reader.path.resolve().name,
        spec=reader.spec,
        summaries=summaries,
        shown=shown_episodes(summaries, num_episodes),
        distributions=measure(reader, summaries, progress),
        content=content_hash(reader) if keeps_digests(reader) else None,
        runs=runs_of(reader),
    )
