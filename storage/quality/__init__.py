"""Quality scores of episodes: how an episode moves, how alike two are, and how well their starts cover the space."""

from .scoring import quality_of, score_dataset
from .table import EpisodeQuality, QualitySettings, QualityTable, read_quality, write_quality

__all__ = [
    "EpisodeQuality",
    "QualitySettings",
    "QualityTable",
    "quality_of",
    "read_quality",
    "score_dataset",
    "write_quality",
]
