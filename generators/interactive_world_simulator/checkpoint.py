"""Loading a folder as the release publishes it: `.hydra/config.yaml` and `checkpoints/best.ckpt`."""

from __future__ import annotations

import hashlib
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...storage.errors import CheckpointError
from ...storage.lineage import hash_file
from .config import SimulatorConfig, read_config
from .simulator import Simulator

CONFIG, WEIGHTS = Path(".hydra", "config.yaml"), Path("checkpoints", "best.ckpt")

#: Wrappers that the release puts around some parts; they have no weights of their own.
_WRAPPERS = re.compile(r"\.(?:wrapper|module|attn_block)(?=\.)")
_ACTION = "normalizer.params_dict.action."


@dataclass(frozen=True)
class Checkpoint:
    """A loaded folder.

    Args:
        simulator: in evaluation mode, on the CPU.
        action_scale, action_offset: (A,) float32; an action times the scale plus the offset lies in [-1, 1].
        hash: SHA-256 of both files.
    """

    simulator: Simulator
    action_scale: np.ndarray
    action_offset: np.ndarray
    hash: str


def load_checkpoint(folder: Path) -> Checkpoint:
    """Load both files; nothing that the weights' file says is run.

    Raises:
        CheckpointError: a file is missing or damaged, holds objects that could run code, or does not fit the other.
    """
    missing = [str(name) for name in (CONFIG, WEIGHTS) if not (folder / name).is_file()]
    if missing:
        raise CheckpointError(
            f"no checkpoint of the Interactive World Simulator at {folder}: {' and '.join(missing)} missing; give one "
            "of the folders that the release publishes, such as pusht_cam1"
        )
    config = read_config(folder / CONFIG)
    weights = read_weights(folder / WEIGHTS)
    scale, offset = (_action_vector(weights, name, config, folder) for name in ("scale", "offset"))
    digest = hashlib.sha256(hash_file(folder / CONFIG) + hash_file(folder / WEIGHTS)).hexdigest()
    return Checkpoint(_simulator(config, weights, folder), scale, offset, digest)


def read_weights(path: Path) -> dict[str, Tensor]:
    """The `state_dict` of a Lightning checkpoint, with the wrappers left out of the names.

    Raises:
        CheckpointError: the file is damaged, is another one, or holds objects that could run code.
    """
    try:
        found = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except pickle.UnpicklingError as error:
        foreign = re.search(r"GLOBAL ([\w.]+)", str(error))
        raise CheckpointError(
            f"{path} holds {foreign[1] if foreign else 'objects'} beside its weights, which is not loaded since it "
            "could run code; where you trust the file, save {'state_dict': its state_dict} alone in its place"
        ) from error
    except (RuntimeError, EOFError, ValueError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CheckpointError(f"{path} cannot be read as a checkpoint ({reason}); copy it again") from error
    weights = found.get("state_dict") if isinstance(found, Mapping) else None
    if not isinstance(weights, Mapping) or not all(isinstance(value, Tensor) for value in weights.values()):
        raise CheckpointError(f"{path} has no state_dict; give a checkpoint that the release's training wrote")
    return {_WRAPPERS.sub("", name): value for name, value in weights.items()}


def _simulator(config: SimulatorConfig, weights: Mapping[str, Tensor], folder: Path) -> Simulator:
    with torch.device("meta"):
        simulator = Simulator(config)
    expected = simulator.state_dict()
    _check_fit({name: tuple(value.shape) for name, value in expected.items()}, weights, folder)
    simulator = Simulator(config)
    simulator.load_state_dict({name: weights[name] for name in expected})
    return simulator.eval().requires_grad_(False)


def _check_fit(expected: Mapping[str, tuple[int, ...]], weights: Mapping[str, Tensor], folder: Path) -> None:
    """Refuse weights that lack a name, have one more in a network, or have one of another shape."""
    faults = [
        f"{name} is {tuple(weights[name].shape)}, expected {shape}" if name in weights else f"{name} is missing"
        for name, shape in expected.items()
        if name not in weights or tuple(weights[name].shape) != shape
    ]
    # Buffers of the rotary embedding differ between the versions of the library that the release uses.
    faults += [
        f"{name} is not known"
        for name in weights
        if name.startswith(("encoder.", "decoder.", "dynamics.")) and name not in expected and "rotary" not in name
    ]
    if faults:
        more = f" and {len(faults) - 1} more faults" if len(faults) > 1 else ""
        raise CheckpointError(
            f"{folder / WEIGHTS} does not fit {folder / CONFIG}: {faults[0]}{more}; copy both files of one checkpoint"
        )


def _action_vector(weights: Mapping[str, Any], name: str, config: SimulatorConfig, folder: Path) -> np.ndarray:
    vector = weights.get(_ACTION + name)
    if vector is None or tuple(vector.shape) != (config.action_size,) or not torch.isfinite(vector).all():
        found = "missing" if vector is None else f"{vector.tolist()}"
        raise CheckpointError(
            f"{folder / WEIGHTS} does not say how actions are scaled: {_ACTION}{name} is {found}, expected "
            f"{config.action_size} numbers; take a checkpoint of a finished training"
        )
    return vector.float().numpy().copy()
