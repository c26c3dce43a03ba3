"""The size and shape of a learned world."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ...storage.errors import ConfigError

#: Pixels along one side of a latent cell.
DOWNSCALE = 4


@dataclass(frozen=True)
class WorldConfig:
    """Architecture of a learned world; everything else follows from the spec of its interaction data.

    Args:
        latent_channels: channels of one latent cell, which covers 4 x 4 pixels of all cameras.
        autoencoder_width: channels inside the encoder and the decoder.
        dynamics_width: channels of the dynamics at latent resolution; half the resolution has twice as many.
        num_dynamics_blocks: residual blocks at half resolution.
        history: how many latents the dynamics sees, the present one included; two show a velocity.
        vector_width: of the MLP that predicts state and labels.
        reader_width: channels inside the head that reads the score from latents where the data has no labels.
    """

    latent_channels: int = 8
    autoencoder_width: int = 64
    dynamics_width: int = 64
    num_dynamics_blocks: int = 4
    history: int = 2
    vector_width: int = 256
    reader_width: int = 48

    def __post_init__(self) -> None:
        for name in (size.name for size in fields(self)):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.history < 2:
            raise ConfigError(f"history must be at least 2 (one frame shows no velocity), got {self.history}")
