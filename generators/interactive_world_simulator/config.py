"""What an official checkpoint's `.hydra/config.yaml` says of its networks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...storage.errors import CheckpointError

_REFERENCE = re.compile(r"\$\{([\w.]+)\}")

#: The settings that change what the networks compute and of which only the released value is built here.
_EXPECTED: Mapping[str, Any] = {
    "dataset.skip_frame": 1,
    "algorithm.mask_prev_action": False,
    "algorithm.diffusion.beta_schedule": "sigmoid",
    "algorithm.diffusion.schedule_fn_kwargs": {},
    "algorithm.diffusion.objective": "pred_v",
    "algorithm.diffusion.resblock_updown": True,
    "algorithm.diffusion.use_scale_shift_norm": True,
    "algorithm.dynamics.use_linear_attn": True,
    "algorithm.dynamics.use_init_temporal_attn": True,
    "algorithm.dynamics.is_causal": True,
    "algorithm.dynamics.time_emb_type": "rotary",
}


@dataclass(frozen=True)
class DynamicsConfig:
    """The network that predicts latents; by default as released.

    Args:
        width: channels after the stem.
        multipliers: channels of each level, as multiples of `width`.
        action_width: size of the embedded action.
        num_groups: of each group normalisation.
        head_width, num_heads: of each attention.
        stem_kernel: side of the first convolution.
    """

    width: int = 64
    multipliers: tuple[int, ...] = (1, 2)
    action_width: int = 512
    num_groups: int = 8
    head_width: int = 128
    num_heads: int = 4
    stem_kernel: int = 5


@dataclass(frozen=True)
class DecoderConfig:
    """The networks that draw frames; by default as released.

    Args:
        width: channels after the first convolution.
        multipliers: channels of each level, as multiples of `width`.
        num_blocks: residual blocks of each level.
        attention_strides: levels of these strides attend.
        head_width: of each attention.
        time_width: size of an embedded noise level.
    """

    width: int = 64
    multipliers: tuple[int, ...] = (1, 2, 3)
    num_blocks: int = 2
    attention_strides: tuple[int, ...] = (2, 4, 8)
    head_width: int = 64
    time_width: int = 512


@dataclass(frozen=True)
class SimulatorConfig:
    """One checkpoint; what has a default has the released value.

    Args:
        cameras: names of the views, which share one model.
        action_size: numbers in an action.
        action_mode: what the release calls the meaning of the action; its checkpoints do not all say it truly.
        resolution: side of the square frames in pixels.
        num_downsamples: how often the encoder halves the side.
        num_levels: noise levels of the schedule.
        history_level: noise level which the past is said to have.
        dynamics_steps, decoder_steps: network calls for each latent and for each frame.
    """

    cameras: tuple[str, ...]
    action_size: int
    action_mode: str = ""
    resolution: int = 128
    num_downsamples: int = 2
    num_levels: int = 1000
    history_level: int = 15
    dynamics_steps: int = 1
    decoder_steps: int = 3
    dynamics: DynamicsConfig = field(default_factory=DynamicsConfig)
    decoder: DecoderConfig = field(default_factory=DecoderConfig)

    def __post_init__(self) -> None:
        if not self.cameras:
            raise ValueError("a world needs at least one camera, got none")
        if self.resolution % 2**self.num_downsamples:
            raise ValueError(f"{self.num_downsamples} halvings do not divide {self.resolution} pixels")

    @property
    def frame_channels(self) -> int:
        """Three of each view."""
        return 3 * len(self.cameras)

    @property
    def latent_channels(self) -> int:
        """Four of each view."""
        return 4 * len(self.cameras)

    @property
    def latent_side(self) -> int:
        """Height and width of a latent."""
        return self.resolution // 2**self.num_downsamples


def read_config(path: Path) -> SimulatorConfig:
    """Read the file that Hydra wrote beside a checkpoint; no expression in it is evaluated.

    What the release computes from other settings by an expression is computed here from those settings.

    Raises:
        CheckpointError: it is no such file, lacks a setting, or has one that this reader does not build.
    """
    import yaml

    try:
        settings = yaml.safe_load(path.read_text())
        _check_expected(settings)
        return _config(settings)
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(str(error.args[0] if isinstance(error, KeyError) else error).split())
        raise CheckpointError(
            f"{path} is not a configuration of the Interactive World Simulator that can be read ({reason}); "
            "copy the folder again"
        ) from error


def _check_expected(settings: Any) -> None:
    for name, expected in _EXPECTED.items():
        found = _setting(settings, name, expected)
        if found != expected:
            raise ValueError(f"{name} is {found!r}, and only {expected!r} is supported")


def _config(settings: Any) -> SimulatorConfig:
    return SimulatorConfig(
        cameras=tuple(map(str, _setting(settings, "algorithm.obs_keys"))),
        action_size=int(_setting(settings, "algorithm.action_dim")),
        action_mode=str(_setting(settings, "dataset.action_mode", "")),
        resolution=int(_setting(settings, "dataset.resolution")),
        num_downsamples=int(_setting(settings, "algorithm.num_latent_downsample")),
        num_levels=int(_setting(settings, "algorithm.diffusion.timesteps")),
        history_level=int(_setting(settings, "algorithm.diffusion.stabilization_level")),
        dynamics_steps=int(_setting(settings, "algorithm.dyn_infer_steps", 1)),
        decoder_steps=int(_setting(settings, "algorithm.dec_infer_steps", 1)),
        dynamics=_dynamics(settings),
        decoder=_decoder(settings),
    )


def _dynamics(settings: Any) -> DynamicsConfig:
    part = "algorithm.dynamics"
    return DynamicsConfig(
        width=int(_setting(settings, f"{part}.dim")),
        multipliers=_integers(settings, f"{part}.dim_mults"),
        action_width=int(_setting(settings, f"{part}.action_emb_dim")),
        num_groups=int(_setting(settings, f"{part}.resnet_block_groups")),
        head_width=int(_setting(settings, f"{part}.attn_dim_head")),
        num_heads=int(_setting(settings, f"{part}.attn_heads")),
        stem_kernel=int(_setting(settings, f"{part}.init_kernel_size")),
    )


def _decoder(settings: Any) -> DecoderConfig:
    part = "algorithm.diffusion"
    return DecoderConfig(
        width=int(_setting(settings, f"{part}.model_channels")),
        multipliers=_integers(settings, f"{part}.channel_mult"),
        num_blocks=int(_setting(settings, f"{part}.num_res_blocks")),
        attention_strides=_integers(settings, f"{part}.attention_resolutions"),
        head_width=int(_setting(settings, f"{part}.num_head_channels")),
        time_width=int(_setting(settings, "algorithm.latent_dim")),
    )


def _integers(settings: Any, name: str) -> tuple[int, ...]:
    return tuple(map(int, _setting(settings, name)))


def _setting(settings: Any, name: str, default: Any = None) -> Any:
    """The value at a dotted name, through references to other names (`${dataset.obs_keys}`).

    Raises:
        KeyError: it is not there and has no default.
    """
    value = settings
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            if default is None:
                raise KeyError(f"{name} is missing")
            return default
        value = value[part]
    reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
    return _setting(settings, reference[1]) if reference else value
