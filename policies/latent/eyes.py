"""What the latent policy sees with: frozen networks out of a world checkpoint.

With a probe the policy sees poses, a few numbers a frame that say all about a task of rigid bodies; without labels in
the interaction data there is no probe, and it sees the latents of the world's autoencoder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ...generators.learned.autoencoder import Autoencoder
from ...generators.learned.checkpoint import from_pretrained
from ...generators.probe import Probe, ProbeNet
from ...storage.errors import ConfigError, SpecMismatch
from ...storage.spec import EpisodeSpec, Vector

POSE = ("x", "y", "cos", "sin")
# Standard deviations. A label within its bounds lies far nearer; a frame unlike all others can send a probe anywhere,
# and what plans from it, with it.
_FARTHEST_READING = 10.0


class ProbeEyes(nn.Module):
    """Frames of all cameras, stacked along their channels, (B, 3V, H, W) in [0, 1] -> readings (B, L), standardised.

    They are bounded. `mean` and `scale` (L,) turn them back into the labels' units.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.net = ProbeNet(**settings)

    def forward(self, frames: Tensor) -> Tensor:
        """See the class."""
        readings: Tensor = self.net(frames)
        return readings.clamp(-_FARTHEST_READING, _FARTHEST_READING)


class LatentEyes(nn.Module):
    """Frames of all cameras, stacked along their channels, (B, 3V, H, W) in [0, 1] -> latents (B, C, h, w)."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.net = Autoencoder(**settings)
        del self.net.decoder

    def forward(self, frames: Tensor) -> Tensor:
        """See the class."""
        latents: Tensor = self.net.encode(frames)
        return latents


EYES: dict[str, type[nn.Module]] = {"probe": ProbeEyes, "latents": LatentEyes}


def make_eyes(kind: str, settings: dict[str, Any]) -> nn.Module:
    """Untrained eyes, frozen."""
    return EYES[kind](**settings).requires_grad_(False).eval()


def eyes_settings(world: Path, spec: EpisodeSpec, eyes: str | None = None) -> dict[str, Any]:
    """The part of a `LatentConfig` that says what the policy sees through.

    Args:
        world: a world checkpoint.
        spec: of the demonstrations.
        eyes: `probe` or `latents`; by default the probe, where the world has one.

    Raises:
        CheckpointError: `world` is no world checkpoint, or has no probe where one is asked for.
        SpecMismatch: its cameras are others than the spec's.
        ConfigError: there are no eyes of that name, or the cameras are not of one size that suits them.
    """
    model = from_pretrained(world).model
    if model.spec.cameras != spec.cameras:
        raise SpecMismatch(
            f"the world in {world} was trained on cameras {model.spec.cameras}, the demonstrations have "
            f"{spec.cameras}; train the world on data of the same robot"
        )
    chosen = eyes or ("probe" if (world / "probe").is_dir() else "latents")
    if chosen not in EYES:
        raise ConfigError(f"a latent policy sees through {' or '.join(EYES)}, got eyes={chosen!r}")
    if any((camera.height, camera.width) != model.canvas for camera in spec.cameras):
        raise ConfigError(
            f"a latent policy needs cameras of one size with sides a multiple of {model.config.canvas_multiple}, got "
            f"{', '.join(map(str, spec.cameras))}; train a policy of another kind, such as act"
        )
    camera = spec.cameras[0]
    size = {"num_cameras": len(spec.cameras), "height": camera.height, "width": camera.width}
    if chosen == "probe":
        labels, network = _read_probe(world / "probe")
        return {
            "eyes": "probe",
            "eyes_settings": {**size, **network},
            "observation_noise": 0.02,
            "poses": planar_poses({name: model.spec.labels[name] for name in labels}, spec.state),
        }
    network = {
        "latent_channels": model.config.latent_channels,
        "channels": model.config.autoencoder_width,
        "downscale": model.config.downscale,
    }
    return {"eyes": "latents", "eyes_settings": {**size, **network}, "observation_noise": 0.1, "flow_samples": 2}


def _read_probe(folder: Path) -> tuple[list[str], dict[str, int]]:
    """The labels that a probe reads, in order, and the size of its network."""
    labels = Probe.from_pretrained(folder).labels
    made = json.loads((folder / "config.json").read_text())
    num_outputs = sum(len(names) for names in labels.values())
    return list(labels), {"num_outputs": num_outputs, "features": made["width"], "blocks": made["num_blocks"]}


def planar_poses(labels: Mapping[str, Vector], state: Vector) -> list[int]:
    """Where, in the labels laid end to end, poses (x, y, cos, sin) start that lie in the plane the robot moves in.

    The robot moves in a plane if its state is a point; it is the same plane if the bounds are the same.
    """
    starts, place = [], 0
    for vector in labels.values():
        in_plane = (vector.low[:2], vector.high[:2]) == (state.low, state.high)
        if vector.names == POSE and state.size == 2 and in_plane:
            starts.append(place)
        place += vector.size
    return starts


def open_eyes(eyes: nn.Module, world: Path) -> None:
    """Copy the weights out of a world checkpoint."""
    if isinstance(eyes, ProbeEyes):
        trained = Probe.from_pretrained(world / "probe").net.state_dict()
    else:
        trained = from_pretrained(world).model.autoencoder.state_dict()
    net = eyes.net
    assert isinstance(net, nn.Module)
    with torch.no_grad():
        net.load_state_dict({name: trained[name] for name in net.state_dict()})
