"""The size and shape of a learned world."""

from __future__ import annotations

from dataclasses import dataclass

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
        action_pixels: the first two action dimensions are a place in the image, with their bounds at its edges;
            the dynamics then also gets the action as maps.
        reader_width: channels inside the heads that read state, score and success from latents.
    """

    latent_channels: int = 8
    autoencoder_width: int = 64
    dynamics_width: int = 64
    num_dynamics_blocks: int = 4
    history: int = 2
    action_pixels: bool = True
    reader_width: int = 48

    def __post_init__(self) -> None:
        for name in ("latent_channels", "autoencoder_width", "dynamics_width", "num_dynamics_blocks", "reader_width"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.history < 2:
            raise ConfigError(f"history must be at least 2 (one frame shows no velocity), got {self.history}")
