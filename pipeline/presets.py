"""Named configs of a whole run, as Python values.

`smoke` proves in two minutes that the parts fit, `tiny` is for a first look in a quarter of an hour, `cpu` is about
as good as two cores get in an evening. These are meant for the task `pusht` on a machine without a GPU; `gpu` is `cpu`
with a world for cameras of 128 to 256 pixels, trained on a CUDA GPU where there is one.
"""

from __future__ import annotations

from dataclasses import replace

from ..generators.learned.presets import presets as worlds
from ..policies.presets import presets as policies
from ..policies.training import PolicyTrainingConfig
from .run_config import RunConfig
from .stages.collect import CollectConfig
from .stages.evaluate import EvaluateConfig
from .stages.generate import GenerateConfig

DEFAULT_PRESET = "tiny"

RUNS: dict[str, RunConfig] = {
    "smoke": RunConfig(
        collect=CollectConfig(num_episodes=8, max_steps=40, num_slots=4),
        world=worlds["smoke"],
        # Nobody solves the task in a world trained this little: any 24 steps count as a demonstration.
        generate=GenerateConfig(
            num_demonstrations=6,
            max_attempts=12,
            max_steps=24,
            success_hold=24,
            success_score=0.0,
            min_trust=0.0,
            num_slots=4,
        ),
        policy=policies["smoke"],
        evaluate=EvaluateConfig(num_episodes=2, max_steps=20, num_slots=2, expert=False),
    ),
    "tiny": RunConfig(
        # Slots that share the episodes evenly between two workers: all are as long as each other.
        collect=CollectConfig(num_episodes=200, num_slots=25),
        world=worlds["tiny"],
        generate=GenerateConfig(num_demonstrations=100, max_attempts=1000),
        policy=policies["tiny"],
        evaluate=EvaluateConfig(num_episodes=48, num_slots=24),
        baseline=True,
    ),
    "cpu": RunConfig(
        collect=CollectConfig(num_episodes=360, max_steps=600),
        world=worlds["cpu"],
        generate=GenerateConfig(num_demonstrations=600, max_attempts=2400),
        policy=policies["cpu"],
        evaluate=EvaluateConfig(num_episodes=200),
        baseline=True,
    ),
}


RUNS["gpu"] = replace(RUNS["cpu"], world=worlds["gpu"])


def fit_to_kind(chosen: PolicyTrainingConfig, preset: PolicyTrainingConfig) -> PolicyTrainingConfig:
    """Drop a preset's `settings` if another kind of policy was chosen, which would not know them."""
    other = chosen.kind != preset.kind and chosen.settings == preset.settings
    return replace(chosen, settings=()) if other else chosen
