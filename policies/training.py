"""One training loop for every kind of policy, through LeRobot's policies, processors and folders."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..storage.atomic import publish_folder, share_files, write_json
from ..storage.errors import CheckpointError, ConfigError
from ..storage.progress import Progress, silent
from ..storage.row_table import RowTable
from ..storage.spec import EpisodeSpec
from ..teleop.policy_checkpoint import SPEC_FILE, stay_offline
from .demonstrations import load_demonstrations
from .mirror import Mirror, with_mirrored

if TYPE_CHECKING:
    from .fitting import Fitted


@dataclass(frozen=True)
class PolicyTrainingConfig:
    """How a policy is trained; training ends at `num_steps` or after `time_s`, whichever comes first.

    Args:
        kind: `latent`, `act`, `diffusion` or a plug-in of the group `demoloom.policies`.
        num_steps: gradient steps.
        time_s: seconds of training at most, 0 for no limit. With a limit the result depends on the machine.
        batch_size: windows in a step.
        settings: changes to the kind's LeRobot config, each `name=value`.
        mirror: also train on the demonstrations seen in a mirror, where the task has that symmetry.
        validation_fraction: share of the episodes held out to measure the loss on.
        num_validations: how often that is done.
        ema_decay: decay of the running average of the weights, which is what is kept.
        seed: of weights, batches and held-out episodes.
        device: `cpu`, `cuda` or another of torch's.
        num_threads: of torch; 0 leaves the number to torch, which takes all cores.

    Raises:
        ConfigError: a number is out of its range.
    """

    kind: str = "latent"
    num_steps: int = 20_000
    time_s: float = 0.0
    batch_size: int = 256
    settings: tuple[str, ...] = ()
    mirror: Mirror = "none"
    validation_fraction: float = 0.1
    num_validations: int = 20
    ema_decay: float = 0.999
    seed: int = 0
    device: str = "cpu"
    num_threads: int = 0

    def __post_init__(self) -> None:
        for name, least in (("num_steps", 1), ("batch_size", 1), ("num_validations", 1), ("time_s", 0), ("seed", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} of policy training must be at least {least}, got {getattr(self, name)}")
        for name in ("validation_fraction", "ema_decay"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(f"{name} of policy training must lie in [0, 1), got {getattr(self, name)}")


def train_policy(
    demonstrations: Path,
    out: Path,
    config: PolicyTrainingConfig,
    world: Path | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Train on the demonstrations and publish `out`, a LeRobot `pretrained_model` folder, in one piece.

    Beside LeRobot's files it holds `spec.json` (what the policy fits), `metrics.jsonl` (losses) and `training.json`.

    Args:
        demonstrations: a dataset folder in which every episode is a demonstration.
        out: must not exist.
        config: how to train.
        world: a world checkpoint, for kinds that see through its encoder.
        progress: told (step, num_steps, losses).

    Returns:
        Metrics: `loss`, `validation_loss`, `num_steps`, `seconds`, `num_episodes`, `num_frames`, `num_parameters`.

    Raises:
        CheckpointError: `out` exists.
        InvalidEpisode: an episode is no demonstration.
        SpecMismatch: world and demonstrations do not fit.
        ConfigError: the settings cannot be used.
    """
    if out.exists():
        raise CheckpointError(f"{out} exists already; delete it to train again, or choose another folder")
    stay_offline()
    from .fitting import fit

    started = time.monotonic()
    progress(0, config.num_steps, f"reading {demonstrations}")
    data = load_demonstrations(demonstrations)
    fitted = fit(with_mirrored(data, config.mirror), held_out_episodes(data, config), config, world, progress)
    metrics = {
        **fitted.losses[-1],
        "num_steps": fitted.losses[-1]["step"],
        "seconds": time.monotonic() - started,
        "num_episodes": len(data.timeline.lengths),
        "num_frames": len(data),
        "num_parameters": sum(p.numel() for p in fitted.policy.parameters() if p.requires_grad),
    }
    with publish_folder(out) as folder:
        _save(fitted, folder, data.spec, config, metrics)
    return metrics


def held_out_episodes(data: RowTable, config: PolicyTrainingConfig) -> np.ndarray:
    """Positions of the episodes that are only measured on, with their mirror images where there are any."""
    num = len(data.timeline.lengths)
    chosen = np.random.default_rng(config.seed).permutation(num)[: int(num * config.validation_fraction)]
    return chosen if config.mirror == "none" else np.concatenate([chosen, chosen + num])


def _save(
    fitted: Fitted, folder: Path, spec: EpisodeSpec, config: PolicyTrainingConfig, metrics: dict[str, Any]
) -> None:
    for part in (fitted.policy, fitted.preprocessor, fitted.postprocessor):
        part.save_pretrained(folder)
    write_json(folder / SPEC_FILE, spec.to_dict())
    write_json(folder / "training.json", {"config": asdict(config), "metrics": metrics})
    lines = [json.dumps({"stage": "policy", **row}) for row in fitted.losses]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    share_files(folder)
