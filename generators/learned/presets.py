"""Named trainings of a world."""

from __future__ import annotations

from ..probe_config import ProbeTrainingConfig
from .config import WorldConfig
from .training_config import DynamicsTrainingConfig, WorldTrainingConfig

#: smoke: that every stage works, in seconds; tiny: some 600 core-seconds; cpu: ten times that or more.
presets: dict[str, WorldTrainingConfig] = {
    "smoke": WorldTrainingConfig(
        model=WorldConfig(
            autoencoder_width=16, dynamics_width=16, num_dynamics_blocks=1, vector_width=32, reader_width=16
        ),
        dynamics=DynamicsTrainingConfig(num_steps=60, batch_size=16),
        probe=ProbeTrainingConfig(num_steps=60, batch_size=16, width=16, num_blocks=1),
        autoencoder_steps=60,
        vector_steps=60,
        decoder_steps=10,
        head_steps=60,
        num_starts=50,
    ),
    "tiny": WorldTrainingConfig(
        model=WorldConfig(autoencoder_width=48, dynamics_width=48, num_dynamics_blocks=3),
        dynamics=DynamicsTrainingConfig(num_steps=2300),
        probe=ProbeTrainingConfig(num_steps=1800),
        autoencoder_steps=1400,
        vector_steps=4500,
        decoder_steps=120,
        head_steps=2500,
    ),
    "cpu": WorldTrainingConfig(
        dynamics=DynamicsTrainingConfig(num_steps=9000, num_rollouts=16, rollout_length=40),
        probe=ProbeTrainingConfig(num_steps=8000),
        autoencoder_steps=6000,
        vector_steps=20000,
        decoder_steps=600,
        head_steps=8000,
    ),
}
