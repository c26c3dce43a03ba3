"""The gradient steps of policy training."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from lerobot.policies import make_policy, make_pre_post_processors
from torch.optim.swa_utils import AveragedModel

from ..generators.learned.optimisation import autocast
from ..storage.columns import image_key
from ..storage.errors import ConfigError
from ..storage.plugins import load_plugin
from ..storage.progress import Progress
from ..storage.row_table import RowTable
from ..teleop.policy_checkpoint import as_batch
from .demonstrations import lerobot_features, statistics
from .kinds import parse_settings
from .windows import policy_windows, rows_to_start_from

if TYPE_CHECKING:
    from .training import PolicyTrainingConfig

WARM_UP_STEPS = 100
VALIDATION_FRAMES = 2048


@dataclass(frozen=True)
class Fitted:
    """A trained policy, its processors, and one row of losses for each time they were measured."""

    policy: Any
    preprocessor: Any
    postprocessor: Any
    losses: list[dict[str, float]]


@dataclass(frozen=True)
class DatasetMeta:
    """What LeRobot's factories read of a dataset's metadata."""

    features: Mapping[str, Any]
    stats: Mapping[str, Any]


@dataclass(frozen=True)
class Batches:
    """Normalised training batches, and the held-out one that the loss is measured on (None without)."""

    training: Callable[[], dict[str, torch.Tensor]]
    held_out: dict[str, torch.Tensor] | None


def fit(
    data: RowTable, held_out: np.ndarray, config: PolicyTrainingConfig, world: Path | None, progress: Progress
) -> Fitted:
    """Train a new policy on all episodes but `held_out` (their positions); what is kept is its running average."""
    _check_device(config.device)
    torch.manual_seed(config.seed)
    torch.set_num_threads(config.num_threads or torch.get_num_threads())
    policy, preprocessor, postprocessor = new_policy(data, config, world)
    batches = _batches(policy, preprocessor, data, held_out, config)
    if hasattr(policy, "calibrate"):
        policy.calibrate(batches.training())
    average = AveragedModel(policy, multi_avg_fn=_moving_average(config.ema_decay))
    losses = _descend(policy.train(), average, batches, config, progress)
    return Fitted(average.module.eval(), preprocessor, postprocessor, losses)


def _check_device(device: str) -> None:
    """LeRobot would go on with the CPU where a device is not there.

    Raises:
        ConfigError: torch knows no such device, or this machine has none.
    """
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise ConfigError(f"device {device!r} of policy training cannot be used ({reason}); choose 'cpu'") from error


def new_policy(data: RowTable, config: PolicyTrainingConfig, world: Path | None) -> tuple[Any, Any, Any]:
    """An untrained policy for these demonstrations, by LeRobot's factories: (policy, preprocessor, postprocessor)."""
    kind = load_plugin("policies", config.kind)
    policy_config = kind.make_config(data.spec, world, {"device": config.device, **parse_settings(config.settings)})
    meta = DatasetMeta(lerobot_features(data.spec), statistics(data))
    policy = make_policy(policy_config, ds_meta=meta)
    kind.adopt(policy, world)
    return policy, *make_pre_post_processors(policy_config, dataset_stats=meta.stats)


def _batches(
    policy: Any, preprocessor: Any, data: RowTable, held_out: np.ndarray, config: PolicyTrainingConfig
) -> Batches:
    windows = policy_windows(data, policy.config, _seen(policy, data))
    random = np.random.default_rng(config.seed)
    episodes = np.arange(len(data.timeline.lengths))
    rows = rows_to_start_from(data, policy.config, np.setdiff1d(episodes, held_out))
    unseen = rows_to_start_from(data, policy.config, held_out)

    def training() -> dict[str, torch.Tensor]:
        return preprocessor(windows.batch(random.choice(rows, config.batch_size)))

    if not len(unseen):
        return Batches(training, None)
    chosen = random.permutation(unseen)[:VALIDATION_FRAMES]
    return Batches(training, preprocessor(windows.batch(chosen)))


def _seen(policy: Any, data: RowTable, rows: int = 256) -> np.ndarray | None:
    """Every frame looked at once with the policy's frozen eyes, if it has any."""
    if not hasattr(policy, "look"):
        return None
    names = [image_key(camera.name) for camera in data.spec.cameras]
    parts = []
    for first in range(0, len(data), rows):
        images = {name: data[name][first : first + rows] for name in names}
        batch = {key: tensor.to(policy.config.device) for key, tensor in as_batch(images, policy.config).items()}
        # bfloat16 gives twice as many frames a second; a probe's error on PushT stays the same to 0.01 of a unit.
        with autocast(policy.config.device == "cpu"):
            parts.append(policy.look(batch).half().cpu())
    return torch.cat(parts).numpy()


def _descend(
    policy: Any, average: AveragedModel, batches: Batches, config: PolicyTrainingConfig, progress: Progress
) -> list[dict[str, float]]:
    preset = policy.config.get_optimizer_preset()
    optimizer = preset.build(policy.get_optim_params())
    peaks = [group["lr"] for group in optimizer.param_groups]
    losses: list[dict[str, float]] = []
    recent: list[float] = []
    started = told = time.monotonic()
    step, share = 0, 0.0
    while share < 1:
        for group, peak in zip(optimizer.param_groups, peaks, strict=True):
            group["lr"] = peak * learning_rate_factor(step, share)
        loss, _ = policy.forward(batches.training())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), preset.grad_clip_norm)
        optimizer.step()
        average.update_parameters(policy)
        recent.append(float(loss.detach()))
        step += 1
        share = _share_done(step, time.monotonic() - started, config)
        if time.monotonic() - told > 0.5:
            told = time.monotonic()
            progress(step, config.num_steps, f"loss {recent[-1]:.3f}")
        if share >= 1 or share * config.num_validations >= len(losses) + 1:
            losses.append(_measure(average, batches, step, time.monotonic() - started, recent, optimizer))
            recent = []
            progress(step, config.num_steps, _message(losses[-1]))
    return losses


def learning_rate_factor(step: int, share: float) -> float:
    """Linear warm-up, then a half cosine to zero over the `share` of training that is done."""
    return min(1.0, (step + 1) / WARM_UP_STEPS) * 0.5 * (1 + math.cos(math.pi * min(share, 1.0)))


def _share_done(step: int, seconds: float, config: PolicyTrainingConfig) -> float:
    return max(step / config.num_steps, seconds / config.time_s if config.time_s else 0.0)


def _moving_average(decay: float) -> Callable[[Any, Any, Any], None]:
    """Exponential average of the weights that forgets the first steps sooner, so that short training profits too."""

    @torch.no_grad()
    def update(averaged: Any, current: Any, num_averaged: Any) -> None:
        num = int(num_averaged)
        torch._foreach_lerp_(averaged, current, 1 - min(decay, (1 + num) / (10 + num)))

    return update


def _measure(
    average: AveragedModel,
    batches: Batches,
    step: int,
    seconds: float,
    recent: list[float],
    optimizer: torch.optim.Optimizer,
) -> dict[str, float]:
    row = {"step": step, "seconds": seconds, "loss": float(np.mean(recent)), "lr": optimizer.param_groups[0]["lr"]}
    if batches.held_out is None:
        return row
    return {**row, "validation_loss": validation_loss(average.module, batches.held_out)}


def validation_loss(policy: Any, batch: dict[str, torch.Tensor]) -> float:
    """The policy's loss in evaluation mode, with the same times and noises at every call."""
    was_training = policy.training
    with torch.random.fork_rng(devices=range(torch.cuda.device_count())), torch.no_grad():
        torch.manual_seed(0)
        loss, _ = policy.eval().forward(batch)
    policy.train(was_training)
    return float(loss)


def _message(row: dict[str, float]) -> str:
    held_out = f", held out {row['validation_loss']:.3f}" if "validation_loss" in row else ""
    return f"loss {row['loss']:.3f}{held_out}"
