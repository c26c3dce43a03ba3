"""Folders laid out like the checkpoints of the Interactive World Simulator, with small networks of random weights."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from PIL import Image
from torch import Tensor

from demoloom.generators.interactive_world_simulator.config import DecoderConfig, DynamicsConfig, SimulatorConfig
from demoloom.generators.interactive_world_simulator.simulator import Simulator

SIZE = 16
SCALE, OFFSET = (4.0, 2.0), (-1.0, 0.0)

#: Which parts of the released dynamics attend to other times, and which to other places of a frame.
_OVER_TIME = r"init_temporal_attn|_blocks\.\d(?:\.0)?\.3|mid_block\.2"
_OVER_SPACE = r"_blocks\.\d(?:\.0)?\.2|mid_block\.1"

_DYNAMICS = DynamicsConfig(width=16, multipliers=(1, 2), action_width=20, num_groups=8, head_width=8, num_heads=2)
_DECODER = DecoderConfig(
    width=16, multipliers=(1, 2), num_blocks=1, attention_strides=(2,), head_width=16, time_width=24
)


def small_config(num_views: int = 1) -> SimulatorConfig:
    """What `hydra_settings` says."""
    return SimulatorConfig(
        cameras=tuple(f"camera_{view}_color" for view in range(num_views)),
        action_size=2,
        action_mode="single_ee",
        resolution=SIZE,
        dynamics=_DYNAMICS,
        decoder=_DECODER,
    )


def hydra_settings(num_views: int = 1) -> dict[str, Any]:
    """The parts of the release's configuration that matter, as Hydra writes them: references are not resolved."""
    return {
        "dataset": {
            "obs_keys": [f"camera_{view}_color" for view in range(num_views)],
            "resolution": SIZE,
            "action_mode": "single_ee",
            "skip_frame": 1,
        },
        "algorithm": {
            "obs_keys": "${dataset.obs_keys}",
            "x_shape": ["${eval:'3 * len(${dataset.obs_keys})'}", "${dataset.resolution}", "${dataset.resolution}"],
            "num_latent_channel": "${eval:'4 * ${algorithm.num_views}'}",
            "num_latent_downsample": 2,
            "latent_dim": 24,
            "action_dim": 2,
            "dyn_infer_steps": 1,
            "dec_infer_steps": 3,
            "mask_prev_action": False,
            "dynamics": {
                "action_dim": "${algorithm.action_dim}",
                "dim": 16,
                "action_emb_dim": 20,
                "resnet_block_groups": 8,
                "dim_mults": [1, 2],
                "attn_dim_head": 8,
                "attn_heads": 2,
                "use_linear_attn": True,
                "use_init_temporal_attn": True,
                "init_kernel_size": 5,
                "is_causal": True,
                "time_emb_type": "rotary",
                "dtype": "${torch:float}",
            },
            "diffusion": {
                "beta_schedule": "sigmoid",
                "objective": "pred_v",
                "schedule_fn_kwargs": {},
                "timesteps": 1000,
                "model_channels": 16,
                "num_res_blocks": 1,
                "attention_resolutions": [2],
                "channel_mult": [1, 2],
                "num_head_channels": 16,
                "resblock_updown": True,
                "use_scale_shift_norm": True,
                "stabilization_level": 15,
            },
        },
    }


def official_name(name: str) -> str:
    """What the release calls a parameter of ours: it wraps the dynamics and each of their attentions."""
    name = re.sub(r"^dynamics\.", "dynamics.module.", name)
    if not name.startswith("dynamics."):
        return name
    name = re.sub(rf"({_OVER_TIME})\.(?=norm|attn)", r"\1.wrapper.module.attn_block.", name)
    return re.sub(rf"({_OVER_SPACE})\.(?=norm|attn)", r"\1.wrapper.module.", name)


def random_weights(config: SimulatorConfig) -> dict[str, Tensor]:
    """A state dict under the official names, drawn in the order of those names."""
    rng = np.random.default_rng(0)
    named = sorted((official_name(name), value) for name, value in Simulator(config).state_dict().items())
    return {
        name: value if name.endswith("freqs") else torch.from_numpy(rng.normal(0, 0.2, value.shape).astype(np.float32))
        for name, value in named
    }


def lightning_content(num_views: int = 1) -> dict[str, Any]:
    """What a Lightning checkpoint of the release holds, as far as it matters here."""
    normalizer = {"scale": torch.tensor(SCALE), "offset": torch.tensor(OFFSET)}
    return {
        "epoch": 3,
        "pytorch-lightning_version": "2.5.0",
        "optimizer_states": [],
        "state_dict": {
            **random_weights(small_config(num_views)),
            **{f"normalizer.params_dict.action.{name}": value for name, value in normalizer.items()},
            "noise_scheduler.betas": torch.zeros(1000),
            "validation_fvd_model.detector.weight": torch.zeros(3),
        },
    }


def write_checkpoint(folder: Path, num_views: int = 1) -> Path:
    """A folder that loads."""
    write_settings(folder, hydra_settings(num_views))
    write_weights(folder, lightning_content(num_views))
    return folder


def write_settings(folder: Path, settings: Any) -> None:
    (folder / ".hydra").mkdir(parents=True, exist_ok=True)
    (folder / ".hydra" / "config.yaml").write_text(yaml.safe_dump(settings))


def write_weights(folder: Path, content: Any) -> None:
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    torch.save(content, folder / "checkpoints" / "best.ckpt")


def write_images(folder: Path, count: int = 5) -> Path:
    """PNG files of random blocks, wider than high as a robot's camera gives them."""
    folder.mkdir(parents=True)
    for index in range(count):
        blocks = np.random.default_rng(index).integers(0, 256, (6, 8, 3), np.uint8)
        Image.fromarray(blocks.repeat(8, axis=0).repeat(8, axis=1)).save(folder / f"{index}.png")
    return folder
