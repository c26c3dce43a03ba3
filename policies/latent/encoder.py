"""The frozen half of the latent policy: a world model's autoencoder without its decoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor, nn

from ...generators.learned.autoencoder import Autoencoder
from ...generators.learned.checkpoint import from_pretrained
from ...storage.errors import SpecMismatch
from ...storage.spec import EpisodeSpec


class FrozenEncoder(nn.Module):
    """Frames of all cameras, stacked along their channels -> one latent map; never trained on.

    Args:
        settings: keyword arguments of the `Autoencoder` that it is a part of.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__()
        self.autoencoder = Autoencoder(**settings)
        del self.autoencoder.decoder
        self.requires_grad_(False).eval()

    def forward(self, frames: Tensor) -> Tensor:
        """(B, 3V, H, W) in [0, 1] -> (B, C, H/4, W/4) in [-1, 1]."""
        return self.autoencoder.encode(frames)

    def train(self, mode: bool = True) -> FrozenEncoder:
        """Stay in evaluation mode."""
        return super().train(False)


def autoencoder_settings(world: Path, spec: EpisodeSpec) -> dict[str, Any]:
    """How to build the autoencoder of a world checkpoint, for a policy that sees what `spec` describes.

    Raises:
        CheckpointError: `world` is no world checkpoint.
        SpecMismatch: its cameras are others than the spec's.
    """
    model = from_pretrained(world).model
    if model.spec.cameras != spec.cameras:
        raise SpecMismatch(
            f"the world in {world} was trained on cameras {model.spec.cameras}, the demonstrations have "
            f"{spec.cameras}; train the world on data of the same robot"
        )
    return {
        "num_cameras": len(spec.cameras),
        "height": spec.cameras[0].height,
        "width": spec.cameras[0].width,
        "latent_channels": model.config.latent_channels,
        "channels": model.config.autoencoder_width,
    }


def load_encoder(encoder: FrozenEncoder, world: Path) -> None:
    """Copy the weights of a world checkpoint's encoder; CheckpointError where there is none."""
    trained = from_pretrained(world).model.autoencoder.state_dict()
    encoder.autoencoder.load_state_dict({name: trained[name] for name in encoder.autoencoder.state_dict()})
