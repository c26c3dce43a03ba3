"""The size and shape of a learned world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ...storage.errors import ConfigError

Downscale = Literal[4, 8, 16]
#: regression: the next latent in one step, always the same; consistency: a sample of it, in one step or a few.
Prediction = Literal["regression", "consistency"]
#: direct: a frame in one step, always the same; consistency: pixels out of noise, in one step or a few.
DecoderKind = Literal["direct", "consistency"]
#: auto: where the data has no labels.
Presence = Literal["auto", "always", "never"]
#: auto: a CUDA GPU where there is one.
Device = Literal["auto", "cpu", "cuda"]
_MOST_SAMPLING_STEPS, _MOST_DECODING_STEPS = 4, 3
_SIZES = (
    "latent_channels", "autoencoder_width", "dynamics_width", "num_dynamics_blocks", "vector_width", "vector_members",
    "reader_width",
)  # fmt: skip
_CHOICES = {"downscale": Downscale, "prediction": Prediction, "decoder": DecoderKind, "inverse_dynamics": Presence}


@dataclass(frozen=True)
class WorldConfig:
    """Architecture of a learned world; everything else follows from the spec of its interaction data.

    Args:
        latent_channels: channels of one latent cell, which covers a square of pixels of all cameras.
        downscale: pixels along one side of that square; 4 suits frames of 64 to 96 pixels, 8 and 16 larger ones.
        autoencoder_width: channels inside the encoder and the decoder.
        dynamics_width: channels of the dynamics at latent resolution; half the resolution has twice as many.
        num_dynamics_blocks: residual blocks at half resolution.
        history: how many latents the dynamics sees, the present one included; two show a velocity.
        anchor: whether it also sees the latent that the episode started from, so that what always stands there cannot
            be forgotten. Without effect where labels say what to draw.
        gate: whether cells can be copied exactly from the present latent. Without effect where labels say what to draw.
        prediction: of the next latent. A regression shows the mean of what may come, which is right where one thing
            only may come; a consistency model shows one of the things that may.
        sampling_steps: of a consistency model, 1 to 4; a regression has one.
        decoder: of latents to frames. A direct one shows the mean of the frames that a latent may stand for, a
            consistency model one of them.
        decoding_steps: of a consistency decoder, 1 to 3; a direct one has one.
        inverse_dynamics: whether there is what reads actions back from latents, by which trust tells whether the world
            does as told. Where labels say what to draw it tells little, since frames are drawn from what was told.
        vector_width: of the MLPs that predict state and labels.
        vector_members: how many of them there are; the mean of several is nearer, and where they disagree trust falls.
        reader_width: channels inside the head that reads the score from latents where the data has no labels.
    """

    latent_channels: int = 8
    downscale: Downscale = 4
    autoencoder_width: int = 64
    dynamics_width: int = 64
    num_dynamics_blocks: int = 4
    history: int = 2
    anchor: bool = False
    gate: bool = True
    prediction: Prediction = "regression"
    sampling_steps: int = 1
    decoder: DecoderKind = "direct"
    decoding_steps: int = 1
    inverse_dynamics: Presence = "auto"
    vector_width: int = 256
    vector_members: int = 3
    reader_width: int = 48

    @property
    def num_latents(self) -> int:
        """How many latents the dynamics sees, an anchor included."""
        return self.history + self.anchor

    @property
    def prediction_noises(self) -> int:
        """Of how many noises the next latent is made."""
        return self.sampling_steps if self.prediction == "consistency" else 0

    @property
    def decoding_noises(self) -> int:
        """Of how many noises a frame is made."""
        return self.decoding_steps if self.decoder == "consistency" else 0

    def reads_actions_back(self, has_labels: bool) -> bool:
        """Whether a world of data with or without labels has an inverse dynamics."""
        return not has_labels if self.inverse_dynamics == "auto" else self.inverse_dynamics == "always"

    @property
    def canvas_multiple(self) -> int:
        """What the sides of the frames are a multiple of: the dynamics halves the latents once more."""
        return 2 * self.downscale

    def __post_init__(self) -> None:
        for name in _SIZES:
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.history < 2:
            raise ConfigError(f"history must be at least 2 (one frame shows no velocity), got {self.history}")
        for name, kind in _CHOICES.items():
            if getattr(self, name) not in get_args(kind):
                known = ", ".join(map(str, get_args(kind)))
                raise ConfigError(f"{name} must be one of {known}, got {getattr(self, name)!r}")
        self._check_steps("sampling_steps", self.prediction, "model", _MOST_SAMPLING_STEPS)
        self._check_steps("decoding_steps", self.decoder, "decoder", _MOST_DECODING_STEPS)

    def _check_steps(self, name: str, kind: str, what: str, most: int) -> None:
        steps, most = getattr(self, name), most if kind == "consistency" else 1
        if not 1 <= steps <= most:
            raise ConfigError(f"{name} of a {kind} {what} must be 1 to {most}, got {steps}")
