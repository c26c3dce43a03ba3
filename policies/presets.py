"""Named policy trainings. `smoke` proves that the parts fit, `tiny` is for a first look, `cpu` for a result."""

from __future__ import annotations

from .training import PolicyTrainingConfig

presets: dict[str, PolicyTrainingConfig] = {
    "smoke": PolicyTrainingConfig(
        num_steps=60, batch_size=64, num_validations=3, settings=("width=16", "embedding=64", "num_blocks=1")
    ),
    "tiny": PolicyTrainingConfig(num_steps=3_000, time_s=80, batch_size=256, num_validations=12),
    "cpu": PolicyTrainingConfig(num_steps=40_000, time_s=1_800, batch_size=256, num_validations=40),
}
