"""Open loop: a world runs on the actions of a held-out episode, and its frames are compared with the real ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ..probe import Probe, label_errors
from .dynamics import follow
from .interaction import Interaction
from .model import WorldModel
from .pose_errors import median_errors, pose_rows
from .sequences import Sequences
from .trust import cycle_error

#: Steps after which the frames are compared; those longer than the episodes are left out.
HORIZONS = (1, 8, 16, 32, 64, 128, 192)


@dataclass(frozen=True)
class OpenLoop:
    """Rollouts of a world beside what really happened.

    Args:
        rows: (E,) the data's row that each rollout started from.
        steps: the steps that were kept, step 0 being the start.
        latents: step -> (E, C, H, W).
    """

    rows: np.ndarray
    latents: dict[int, Tensor]


def roll_open_loop(
    model: WorldModel, data: Interaction, sequences: Sequences, episodes: np.ndarray, most: int = 24
) -> OpenLoop:
    """Run from the first frames of `most` of the episodes on their recorded actions, as long as half of them last."""
    lengths = np.diff(data.starts)[episodes]
    longest = int(np.median(lengths)) - 1
    rows = data.starts[:-1][episodes[lengths > longest][:most]]
    latents = roll(model, sequences, rows, rows, longest)
    return OpenLoop(rows, {step: latent for step, latent in latents if step in HORIZONS or step % 8 == 0})


@torch.inference_mode()
def roll(
    model: WorldModel, sequences: Sequences, rows: np.ndarray, action_rows: np.ndarray, num_steps: int
) -> Iterator[tuple[int, Tensor]]:
    """Go on from `rows` (E,) under the actions from `action_rows` (E,) on; yields each step and its latents."""
    latents, vectors, task = sequences.history(rows), sequences.vector_history(rows), sequences.task(rows)
    yield 0, latents[:, -1]
    for step in range(num_steps):
        actions, noise = sequences.action_history(action_rows + step), torch.randn(model.noise_shape(len(rows)))
        latent, vector = model.predict(latents, vectors, actions, task, noise)
        latents = follow(latents, latent, sequences.anchored)
        vectors = torch.cat([vectors[:, 1:], vector[:, None]], 1)
        yield step + 1, latent


def open_loop_table(model: WorldModel, data: Interaction, run: OpenLoop, probe: Probe | None) -> list[dict[str, Any]]:
    """One row for each horizon: PSNR in dB, of the foreground alone too, and SSIM, of the model's frames.

    Beside them the same of the autoencoder, which only redraws the real frames, and of no change, the starts shown for
    ever. With a probe also the mean absolute error of each label read from the model's frames and, where labels are
    poses, the median error of their places and directions.
    """
    table = []
    for horizon in (h for h in HORIZONS if h in run.latents):
        rows, shown = run.rows + horizon, frames_after(model, data, run, horizon)
        row: dict[str, Any] = {"steps": horizon, "episodes": len(rows)}
        for name, frames in shown.items():
            row |= _likeness(model, frames, data.frames[rows], f"_{name}" if name != "model" else "")
        if probe is not None:
            row["label_error"] = label_errors(probe, shown["model"], data, rows)
            true = {name: values[rows] for name, values in data.labels.items()}
            row["pose_error"] = median_errors(probe(shown["model"]), true, probe)
        table.append(row)
    return table


def pose_table(model: WorldModel, data: Interaction, run: OpenLoop, probe: Probe) -> list[dict[str, Any]]:
    """Rows of `pose_rows` for each horizon: of the model, and beside it of the autoencoder and of no change."""
    return [
        row
        for horizon in (h for h in HORIZONS if h in run.latents and h)
        for row in pose_rows(probe, data, run.rows, horizon, frames_after(model, data, run, horizon))
    ]


@torch.inference_mode()
def frames_after(model: WorldModel, data: Interaction, run: OpenLoop, num_steps: int) -> dict[str, np.ndarray]:
    """Frames (E, H, W, 3V) after so many steps: `model`, `autoencoder` and `no_change`."""
    return {
        "model": model.decode(run.latents[num_steps]),
        "autoencoder": model.decode(model.encode(data.frames[run.rows + num_steps])),
        "no_change": data.frames[run.rows],
    }


def _likeness(model: WorldModel, shown: np.ndarray, real: np.ndarray, suffix: str) -> dict[str, float]:
    return {
        f"psnr{suffix}": psnr(shown, real),
        f"psnr_foreground{suffix}": psnr(shown, real, _foreground(model, shown, real)),
        f"ssim{suffix}": ssim(shown, real),
    }


def psnr(shown: np.ndarray, real: np.ndarray, where: np.ndarray | None = None) -> float:
    """Peak signal-to-noise ratio in dB, the mean over frames (N, H, W, C) uint8; with `where` (N, H, W) over it.

    Frames that are equal, or compared nowhere, have 80 dB.
    """
    error = ((shown.astype(np.float32) - real) / 255) ** 2
    if where is not None:
        error = error.mean(-1)[where]
        return float(-10 * np.log10((error.mean() if len(error) else 0.0) + 1e-8))
    return float((-10 * np.log10(error.mean((1, 2, 3)) + 1e-8)).mean())


def ssim(shown: np.ndarray, real: np.ndarray) -> float:
    """Structural similarity, the mean over frames (N, H, W, C) uint8 and over windows of 11 x 11 pixels.

    Wang, Bovik, Sheikh and Simoncelli 2004, with their Gaussian window of 1.5 pixels and their constants.
    """
    x, y = (torch.from_numpy(frames).permute(0, 3, 1, 2).double() for frames in (shown, real))
    offsets = torch.arange(-5, 6, dtype=torch.float64)
    window = torch.exp(-(offsets**2) / (2 * 1.5**2))
    window = (window[:, None] * window / window.sum() ** 2).expand(x.shape[1], 1, -1, -1)

    def mean(values: Tensor) -> Tensor:
        return F.conv2d(values, window, groups=values.shape[1])

    mean_x, mean_y = mean(x), mean(y)
    var_x, var_y, covar = mean(x * x) - mean_x**2, mean(y * y) - mean_y**2, mean(x * y) - mean_x * mean_y
    one, two = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    similar = (2 * mean_x * mean_y + one) * (2 * covar + two)
    return float((similar / ((mean_x**2 + mean_y**2 + one) * (var_x + var_y + two))).mean())


def _foreground(model: WorldModel, *frames: np.ndarray) -> np.ndarray:
    """(N, H, W): where any of the frames differs from the background."""
    background = model.autoencoder.background.permute(1, 2, 0).numpy()
    return np.any([np.abs(f / np.float32(255) - background).max(-1) > 0.1 for f in frames], axis=0)


def one_step_cycle_errors(model: WorldModel, sequences: Sequences, rows: np.ndarray) -> np.ndarray:
    """Cycle errors (R,) of the predictions one step after these rows, on which trust is calibrated."""
    errors = []
    with torch.inference_mode():
        for part in np.array_split(rows, -(-len(rows) // 256)):
            predicted, _ = model.predict(
                sequences.history(part), sequences.vector_history(part), sequences.action_history(part),
                sequences.task(part),
            )  # fmt: skip
            errors.append(cycle_error(model.autoencoder, predicted, model.decode_float(predicted)))
    return torch.cat(errors).numpy()


def score_metrics(score: np.ndarray, data: Interaction, rows: np.ndarray, threshold: float) -> dict[str, Any]:
    """How well score and success are read on held-out rows; precision and recall are None without a case."""
    rows = rows[data.scored[rows]]
    called, true = score[rows] > threshold, data.success[rows]
    hits = int((called & true).sum())
    return {
        "score_error": float(np.abs(score[rows] - data.score[rows]).mean()),
        "success_threshold": threshold,
        "success_precision": hits / int(called.sum()) if called.any() else None,
        "success_recall": hits / int(true.sum()) if true.any() else None,
        "num_successes": int(true.sum()),
    }
