"""What changed from one dataset to another."""

from .datasets import DatasetDiff, diff
from .scores import ScoreShift

__all__ = ["DatasetDiff", "ScoreShift", "diff"]
