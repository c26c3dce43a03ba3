"""A probe: labels that only reality knows (a block's pose), read from frames, real and generated alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from ..storage.atomic import write_json
from ..storage.errors import CheckpointError, ConfigError
from ..storage.progress import Progress, silent
from .learned.interaction import Interaction, read_interaction
from .learned.model import to_float
from .learned.optimisation import autocast, optimise
from .learned.reader import Reader
from .learned.training_log import TrainingLog
from .learned.training_stage import Training, TrainingStage
from .probe_config import ProbeTrainingConfig

PROBE_FILES = ("config.json", "probe.safetensors")
_STEM_WIDTH = 32
_PIXEL_NOISE = 0.03
#: Frames (B, 3V, H, W) in [0, 1] -> the same as a learned world shows them.
Reconstruct = Callable[[Tensor], Tensor]


class ProbeNet(nn.Module):
    """(B, 3V, H, W) in [0, 1] -> (B, L) labels, in standard deviations from their mean."""

    mean: Tensor
    scale: Tensor

    def __init__(self, num_cameras: int, height: int, width: int, num_outputs: int, features: int, blocks: int) -> None:
        super().__init__()
        self.width, self.num_blocks = features, blocks
        self.stem = nn.Sequential(
            nn.PixelUnshuffle(2),
            nn.Conv2d(12 * num_cameras, _STEM_WIDTH, 3, padding=1),
            nn.SiLU(),
            nn.PixelUnshuffle(2),
        )
        self.reader = Reader(4 * _STEM_WIDTH, height // 4, width // 4, num_outputs, features, blocks)
        self.register_buffer("mean", torch.zeros(num_outputs))
        self.register_buffer("scale", torch.ones(num_outputs))

    def forward(self, frames: Tensor) -> Tensor:
        """Read every label, one after the other."""
        out: Tensor = self.reader(self.stem(frames - 0.5))
        return out


class Probe:
    """Reads labels from frames.

    Args:
        net: the trained network.
        labels: label name -> names of its dimensions, in the order of the network's outputs.
        size: height, width and number of cameras of the frames.
    """

    def __init__(self, net: ProbeNet, labels: Mapping[str, tuple[str, ...]], size: tuple[int, int, int]) -> None:
        self.net, self.labels, self.size = net.eval(), dict(labels), size

    @torch.inference_mode()
    def __call__(self, images: np.ndarray) -> dict[str, np.ndarray]:
        """(N, H, W, 3V) uint8 RGB, several cameras side by side in the channels -> label name -> (N, L) float32.

        Raises:
            ConfigError: the frames are of another size than those it was trained on.
        """
        height, width, cameras = self.size
        if images.shape[1:] != (height, width, 3 * cameras):
            raise ConfigError(f"the probe reads frames of {(height, width, 3 * cameras)}, got {images.shape[1:]}")
        if not len(images):
            return {name: np.zeros((0, len(names)), np.float32) for name, names in self.labels.items()}
        with autocast():
            read = [self.net(to_float(images[at : at + 256])).float() for at in range(0, len(images), 256)]
        outputs = torch.cat(read)
        values = (outputs * self.net.scale + self.net.mean).numpy()
        ends = np.cumsum([len(names) for names in self.labels.values()])
        return dict(zip(self.labels, np.split(values, ends[:-1], axis=1), strict=True))

    def save_pretrained(self, path: Path | str) -> None:
        """Write the folder that `from_pretrained` reads."""
        path = Path(path)
        path.mkdir(parents=True, exist_ok=True)
        save_file(
            {name: value.contiguous() for name, value in self.net.state_dict().items()}, path / "probe.safetensors"
        )
        shape = {"labels": self.labels, "size": self.size, "width": self.net.width, "num_blocks": self.net.num_blocks}
        write_json(path / "config.json", shape)

    @classmethod
    def from_pretrained(cls, path: Path | str) -> Probe:
        """Load a probe.

        Raises:
            CheckpointError: the folder is not there, incomplete or damaged.
        """
        path = Path(path)
        if not all((path / name).is_file() for name in PROBE_FILES):
            raise CheckpointError(f"no probe at {path}; `demoloom train-world` trains one where the data has labels")
        try:
            config = json.loads((path / "config.json").read_text())
            labels = {name: tuple(names) for name, names in config["labels"].items()}
            height, width, cameras = config["size"]
            outputs = sum(len(names) for names in labels.values())
            net = ProbeNet(cameras, height, width, outputs, config["width"], config["num_blocks"])
            net.load_state_dict(load_file(path / "probe.safetensors"))
        except (SafetensorError, json.JSONDecodeError, KeyError, TypeError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"the probe at {path} is damaged ({type(error).__name__}: {error}); copy it again or train it anew"
            ) from error
        return cls(net.requires_grad_(False), labels, (height, width, cameras))


def train_probe(
    interaction: Path, out: Path, config: ProbeTrainingConfig, progress: Progress = silent
) -> dict[str, Any]:
    """Train a probe on real frames and write it to `out`.

    Returns:
        Mean absolute error of each label's dimension on held-out episodes, as `{"block_pose.x": 1.2, ...}`.

    Raises:
        ConfigError: the data has no labels.
        StoreError: there is no data.
    """
    data = read_interaction(interaction)
    train, held_out = data.split(config.held_out)
    out.mkdir(parents=True, exist_ok=True)
    training = Training(config.seed, TrainingLog(out / "metrics.jsonl", config.num_steps, progress))
    probe = new_probe(data, config)
    fit_probe(probe, data, data.rows(train), config, config.num_steps, training.stage("probe"))
    probe.save_pretrained(out)
    errors = label_errors(probe, data.frames[data.rows(held_out)], data, data.rows(held_out))
    write_json(out / "metrics.json", errors)
    return errors


def new_probe(data: Interaction, config: ProbeTrainingConfig) -> Probe:
    """An untrained probe for the labels of `data`."""
    if not data.labels:
        raise ConfigError("a probe learns labels, and the interaction data has none")
    (height, width), cameras = data.frames.shape[1:3], len(data.spec.cameras)
    targets = _targets(data)
    torch.manual_seed(config.seed)
    net = ProbeNet(cameras, height, width, targets.shape[1], config.width, config.num_blocks)
    net.mean.copy_(targets.mean(0))
    net.scale.copy_(targets.std(0) + 1e-6)
    names = {name: data.spec.labels[name].names for name in data.labels}
    return Probe(net, names, (height, width, cameras))


def fit_probe(
    probe: Probe, data: Interaction, rows: np.ndarray, config: ProbeTrainingConfig, num_steps: int,
    stage: TrainingStage, reconstruct: Reconstruct | None = None,
) -> None:  # fmt: skip
    """Train a probe on the frames of `rows`; with `reconstruct`, on half of them as a learned world shows them."""
    rng, noise = stage.rng, stage.noise
    targets = (_targets(data) - probe.net.mean) / probe.net.scale

    def loss_at(step: int) -> Tensor:
        chosen = rng.choice(rows, config.batch_size)
        frames = to_float(data.frames[chosen])
        if reconstruct is not None:
            half = len(frames) // 2
            frames = torch.cat([frames[:half], reconstruct(frames[half:])])
        level = _PIXEL_NOISE * torch.rand(len(frames), 1, 1, 1, generator=noise)
        with autocast():
            read = probe.net(frames + level * torch.randn(frames.shape, generator=noise))
        return F.smooth_l1_loss(read.float(), targets[torch.from_numpy(chosen)], beta=0.02)

    probe.net.train()
    optimise([probe.net], loss_at, num_steps, config.lr, stage)
    probe.net.eval()


def label_errors(probe: Probe, frames: np.ndarray, data: Interaction, rows: np.ndarray) -> dict[str, float]:
    """Mean absolute error of each dimension of each label, in its own unit, where `frames` shows these rows."""
    read = probe(frames)
    return {
        f"{name}.{dimension}": float(np.abs(read[name][:, i] - data.labels[name][rows, i]).mean())
        for name, dimensions in probe.labels.items()
        for i, dimension in enumerate(dimensions)
    }


def _targets(data: Interaction) -> Tensor:
    return torch.from_numpy(np.concatenate(list(data.labels.values()), axis=1))
