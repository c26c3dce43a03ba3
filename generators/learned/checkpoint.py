"""A learned world as a folder."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from ...storage.atomic import write_json
from ...storage.errors import CheckpointError
from ...storage.spec import EpisodeSpec
from ..probe import PROBE_FILES, Probe
from .config import WorldConfig
from .model import WorldModel

_FORMAT = 4
_FILES = ("config.json", "spec.json", "model.safetensors", "starts.npz")


@dataclass(frozen=True)
class Checkpoint:
    """A trained world.

    Args:
        model: its networks.
        probe: reads the labels of a start; None where the data had none.
        start_frames: (K, H, W, 3V) uint8, real frames at rest to start from, on the model's canvas.
        start_states: (K, S) float32, the states that go with them.
        start_tasks: (K,) int64, which of the model's tasks each is a start of.
        hash: SHA-256 of the files, which names this world in lineage.
    """

    model: WorldModel
    probe: Probe | None
    start_frames: np.ndarray
    start_states: np.ndarray
    start_tasks: np.ndarray
    hash: str


def save_pretrained(
    path: Path | str, model: WorldModel, probe: Probe | None, start_frames: np.ndarray, start_states: np.ndarray,
    start_tasks: np.ndarray | None = None,
) -> None:  # fmt: skip
    """Write a world as `config.json`, `spec.json`, `model.safetensors`, `starts.npz` and `probe/`."""
    path = Path(path)
    path.mkdir(parents=True, exist_ok=True)
    if probe is not None:
        probe.save_pretrained(path / "probe")
    write_json(path / "spec.json", model.spec.to_dict())
    save_file({name: _single(value) for name, value in model.state_dict().items()}, path / "model.safetensors")
    tasks = np.zeros(len(start_frames), np.int64) if start_tasks is None else start_tasks
    # Compressed, since most of a frame is background: 800 frames of PushT are 0.2 MB and not 10.
    np.savez_compressed(path / "starts.npz", frames=start_frames, states=start_states, tasks=tasks)
    # Last, since a folder without it is no checkpoint.
    write_json(path / "config.json", {"format": _FORMAT, "tasks": model.tasks, "model": asdict(model.config)})


def from_pretrained(path: Path | str) -> Checkpoint:
    """Load what `save_pretrained` wrote.

    Raises:
        CheckpointError: the folder is not there, incomplete, of another format or damaged.
    """
    path = Path(path)
    _require_files(path)
    try:
        config = json.loads((path / "config.json").read_text())
        spec = EpisodeSpec.from_dict(json.loads((path / "spec.json").read_text()))
        model = WorldModel(_config(path, config), spec, config["tasks"])
        model.load_state_dict(load_file(path / "model.safetensors"))
        with np.load(path / "starts.npz") as starts:
            frames, states, tasks = starts["frames"], starts["states"], starts["tasks"]
    except CheckpointError:
        raise
    except (SafetensorError, BadZipFile, EOFError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise CheckpointError(
            f"the world at {path} is damaged ({type(error).__name__}: {error}); copy it again or train it anew"
        ) from error
    model.eval().requires_grad_(False)
    # So that no row of a batch depends on the others: products of other sizes add up in another order, in the last
    # bits, which rounding to single precision takes away.
    model.vector_dynamics.double()
    if model.plausibility is not None:
        model.plausibility.double()
    probe = Probe.from_pretrained(path / "probe") if model.spec.labels else None
    return Checkpoint(model, probe, frames, states, tasks, hash_checkpoint(path))


def _require_files(path: Path) -> None:
    missing = [name for name in _FILES if not (path / name).is_file()]
    if missing:
        raise CheckpointError(
            f"no world at {path}: {', '.join(missing)} missing; train one with `demoloom train-world`, or name one "
            "that comes with demoloom (`pusht`)"
        )


def _single(value: Tensor) -> Tensor:
    """A number in double precision, which `from_pretrained` made of one in single precision, as that one."""
    return (value.float() if value.dtype == torch.float64 else value).contiguous()


def _config(path: Path, data: Mapping[str, Any]) -> WorldConfig:
    if data["format"] != _FORMAT:
        raise CheckpointError(
            f"the world at {path} has format {data['format']}, this version reads {_FORMAT}; train it anew"
        )
    return WorldConfig(**data["model"])


def copy_pretrained(path: Path, out: Path) -> dict[str, Any]:
    """Copy a checkpoint to `out`, which must not exist, with all that lies beside it, and return its metrics if any.

    Raises:
        CheckpointError: it cannot be loaded.
    """
    from_pretrained(path)
    shutil.copytree(path, out)
    metrics = out / "metrics.json"
    return dict(json.loads(metrics.read_text())) if metrics.is_file() else {}


def hash_checkpoint(path: Path | str) -> str:
    """SHA-256 over the files that decide what a world does; metrics and previews beside them do not count.

    Raises:
        CheckpointError: some of the files are missing.
    """
    _require_files(Path(path))
    digest = hashlib.sha256()
    files = [*_FILES, *(f"probe/{name}" for name in PROBE_FILES if (Path(path) / "probe" / name).is_file())]
    for name in files:
        digest.update(hashlib.sha256((Path(path) / name).read_bytes()).digest())
    return digest.hexdigest()
