"""Named trainings of a world."""

from __future__ import annotations

from ..probe_config import ProbeTrainingConfig
from .config import WorldConfig
from .training_config import WorldTrainingConfig

#: smoke: that every stage works, in seconds; tiny: five minutes and a half on two cores; cpu: an hour on two cores.
presets: dict[str, WorldTrainingConfig] = {
    "smoke": WorldTrainingConfig(
        model=WorldConfig(autoencoder_width=16, dynamics_width=16, num_dynamics_blocks=1, reader_width=16),
        probe=ProbeTrainingConfig(num_steps=60, batch_size=16, width=16, num_blocks=1),
        autoencoder_steps=60,
        dynamics_steps=60,
        decoder_steps=10,
        head_steps=60,
        dynamics_batch=16,
        num_starts=50,
    ),
    "tiny": WorldTrainingConfig(
        model=WorldConfig(autoencoder_width=48, dynamics_width=48),
        probe=ProbeTrainingConfig(num_steps=2400),
        autoencoder_steps=1200,
        dynamics_steps=1500,
        decoder_steps=120,
        head_steps=800,
    ),
    "cpu": WorldTrainingConfig(
        probe=ProbeTrainingConfig(num_steps=24000),
        autoencoder_steps=9000,
        dynamics_steps=16000,
        decoder_steps=1000,
        head_steps=8000,
    ),
}
