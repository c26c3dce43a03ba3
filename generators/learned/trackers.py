"""Programs that show how a training goes, while it goes: TensorBoard, and Weights & Biases if asked for."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ...storage.errors import ConfigError
from .training_config import Tracking

if TYPE_CHECKING:
    from tensorboardX import SummaryWriter


class Tracker(Protocol):
    """Takes the numbers of a training; its stages count their steps apart."""

    def track(self, stage: str, step: int, values: Mapping[str, float]) -> None:
        """Show these numbers of a stage at its step; a step seen before, in an earlier try, is replaced."""

    def close(self) -> None:
        """Write what is not written yet."""


class TensorBoard:
    """Event files in `folder`, one run of TensorBoard's for each stage; `tensorboard --logdir FOLDER` shows them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writers: dict[str, SummaryWriter] = {}

    def track(self, stage: str, step: int, values: Mapping[str, float]) -> None:
        """Add scalars; the first of a try tell TensorBoard to drop what an earlier one wrote from that step on."""
        from tensorboardX import SummaryWriter

        if stage not in self._writers:
            path = self._folder / stage.replace(" ", "_")
            self._writers[stage] = SummaryWriter(str(path), purge_step=step, flush_secs=10)
        for name, value in values.items():
            self._writers[stage].add_scalar(name, value, step)

    def close(self) -> None:
        """Close all event files."""
        for writer in self._writers.values():
            writer.close()


class WeightsAndBiases:
    """One run at Weights & Biases, or offline in `folder` with WANDB_MODE=offline.

    Args:
        identity: names the training; another try of the same goes on in the same run.

    Raises:
        ConfigError: wandb is not installed, or cannot begin a run (no login, no network).
    """

    def __init__(self, folder: Path, identity: str) -> None:
        try:
            import wandb
        except ImportError as error:
            raise ConfigError(
                "log_to wandb needs the package wandb, which is not installed; run `pip install wandb`, or log to "
                "tensorboard"
            ) from error
        try:
            self._run: Any = wandb.init(project="demoloom", dir=str(folder), id=identity, resume="allow")
        except wandb.Error as error:
            raise ConfigError(
                f"wandb cannot begin a run ({error}); run `wandb login`, set WANDB_MODE=offline, or log to tensorboard"
            ) from error
        self._stages: set[str] = set()

    def track(self, stage: str, step: int, values: Mapping[str, float]) -> None:
        """Log the numbers over the stage's own steps."""
        if stage not in self._stages:
            self._stages.add(stage)
            self._run.define_metric(f"{stage}/*", step_metric=f"{stage}/step")
        self._run.log({f"{stage}/step": step, **{f"{stage}/{name}": value for name, value in values.items()}})

    def close(self) -> None:
        """End the run."""
        self._run.finish(quiet=True)


def open_tracker(kind: Tracking, folder: Path, identity: str) -> Tracker | None:
    """The tracker that a config asks for; ConfigError where it cannot be had."""
    if kind == "tensorboard":
        return TensorBoard(folder / "tensorboard")
    return WeightsAndBiases(folder, identity) if kind == "wandb" else None
