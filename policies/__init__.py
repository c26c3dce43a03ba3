"""Policies: trained on demonstrations, scored with intervals, exported for a robot."""

from .evaluation import Interval, Score, evaluation_plan, policy_ref, score
from .export import export_policy
from .presets import presets
from .training import PolicyTrainingConfig, train_policy

__all__ = [
    "Interval",
    "PolicyTrainingConfig",
    "Score",
    "evaluation_plan",
    "export_policy",
    "policy_ref",
    "presets",
    "score",
    "train_policy",
]
