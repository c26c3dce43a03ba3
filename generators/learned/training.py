"""The whole training of a learned world: autoencoder, dynamics, decoder touch-up, heads, probe, and how good it is."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...storage.atomic import write_json
from ...storage.progress import Progress, silent
from ..probe import Probe, fit_probe, label_errors, new_probe
from .autoencoder_training import encode_all, set_background, touch_up_decoder, train_autoencoder
from .checkpoint import save_pretrained
from .dynamics_training import train_dynamics
from .evaluation import one_step_cycle_errors, open_loop_table, psnr, roll_open_loop, score_metrics
from .head_training import choose_success_threshold, read_all, set_state_units, train_head
from .interaction import Interaction, read_interaction
from .model import WorldModel
from .optimisation import TrainingLog
from .preview import write_preview
from .sequences import Sequences
from .starts import choose_starts
from .training_config import WorldTrainingConfig
from .trust import trust_bounds

_NUM_MEASURED_ROWS = 2000


def train_world(
    interaction: Path, out: Path, config: WorldTrainingConfig, progress: Progress = silent
) -> dict[str, Any]:
    """Train a world on interaction data and write it to `out`, with its probe in `out/probe` if there are labels.

    Beside the checkpoint lie `metrics.jsonl` (losses), `metrics.json` (what is returned) and `preview.png`.
    The networks that read frames train in a second thread, as two single-threaded trainings on two cores do more
    than one on both.

    Raises:
        StoreError: there is no dataset at `interaction`.
        ConfigError: the data does not suit a learned world; the message says why.
    """
    began = time.monotonic()
    data = read_interaction(interaction)
    task = _task(interaction)
    out.mkdir(parents=True, exist_ok=True)
    (out / "metrics.jsonl").unlink(missing_ok=True)
    log = TrainingLog(out / "metrics.jsonl", _num_steps(config, data), progress)
    with _half_the_threads():
        trained = _train(data, config, log)
    metrics = _measure(trained, data, config, out)
    metrics |= {"seconds": round(time.monotonic() - began, 1), "frames": len(data.frames)}
    frames, states = choose_starts(data, trained.latents, config.num_starts)
    if trained.probe is not None:
        trained.probe.save_pretrained(out / "probe", config.probe)
    save_pretrained(out, trained.model, task, frames, states)
    write_json(out / "metrics.json", metrics)
    return metrics


@dataclass(frozen=True)
class _Trained:
    model: WorldModel
    probe: Probe | None
    latents: Tensor
    sequences: Sequences


def _train(data: Interaction, config: WorldTrainingConfig, log: TrainingLog) -> _Trained:
    rng = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    train, _ = data.split(config.held_out)
    rows = data.rows(train)
    model = WorldModel(config.model, data.spec)
    set_background(model, data.frames[rows])
    set_state_units(model, data.state[rows])
    probe = new_probe(data, config.probe) if data.labels else None
    with ThreadPoolExecutor(1) as side:
        first = side.submit(_fit_probe_half, probe, data, rows, config, log, None)
        train_autoencoder(model, data, rows, config.autoencoder_steps, config.autoencoder_batch, config.lr, rng, log)
        latents = encode_all(model, data.frames)
        first.result()
        readers = side.submit(_train_readers, model, probe, latents, data, rows, config, log)
        sequences = Sequences(
            latents, model.scale_actions(torch.from_numpy(data.action)), data.starts, train, config.model.history
        )
        pool = train_dynamics(
            model, sequences, config.dynamics_steps, config.dynamics_batch, config.rollout_share,
            config.rollout_length, config.lr, rng, log,
        )  # fmt: skip
        readers.result()
    touch_up_decoder(model, data, pool, config.decoder_steps, config.lr / 2, log)
    return _Trained(model.eval(), probe, latents, sequences)


def _fit_probe_half(
    probe: Probe | None, data: Interaction, rows: np.ndarray, config: WorldTrainingConfig, log: TrainingLog,
    model: WorldModel | None,
) -> None:  # fmt: skip
    """First on real frames only; with a model also on frames as it shows them."""
    if probe is None:
        return
    half = max(1, config.probe.num_steps // 2)
    probe_config = config.probe if model is None else replace(config.probe, seed=config.probe.seed + 1)
    fit_probe(probe, data, rows, probe_config, half, log, None if model is None else _reconstruct(model, config.seed))


def _reconstruct(model: WorldModel, seed: int) -> Any:
    """Frames as the model shows them when its latents are a little wrong."""
    noise = torch.Generator().manual_seed(seed)

    @torch.no_grad()
    def reconstruct(frames: Tensor) -> Tensor:
        latents = model.autoencoder.encode(frames)
        level = 0.05 * torch.rand(len(latents), 1, 1, 1, generator=noise)
        shown = model.decode_float(latents + level * torch.randn(latents.shape, generator=noise))
        return shown.clamp(0, 1)

    return reconstruct


def _train_readers(
    model: WorldModel, probe: Probe | None, latents: Tensor, data: Interaction, rows: np.ndarray,
    config: WorldTrainingConfig, log: TrainingLog,
) -> None:  # fmt: skip
    rng = np.random.default_rng(config.seed + 1)
    train_head(model, latents, data, rows, config.head_steps, config.dynamics_batch, config.lr, rng, log)
    _fit_probe_half(probe, data, rows, config, log, model)


def _num_steps(config: WorldTrainingConfig, data: Interaction) -> int:
    stages = config.autoencoder_steps + config.dynamics_steps + config.decoder_steps + config.head_steps
    return stages + (2 * max(1, config.probe.num_steps // 2) if data.labels else 0)


def _measure(trained: _Trained, data: Interaction, config: WorldTrainingConfig, out: Path) -> dict[str, Any]:
    """Set the thresholds of success and trust from data, and measure on the held-out episodes."""
    model = trained.model
    _, held_out = data.split(config.held_out)
    rows = data.rows(held_out)
    state, score = read_all(model, trained.latents)
    scored = data.scored
    threshold = choose_success_threshold(score[scored], data.success[scored])
    model.success_threshold.fill_(threshold)
    some = rows[trained.sequences.has_next[rows]][:: max(1, len(rows) // _NUM_MEASURED_ROWS)]
    usual, limit = trust_bounds(one_step_cycle_errors(model, trained.sequences, some))
    model.trust_usual.fill_(usual)
    model.trust_limit.fill_(limit)
    run = roll_open_loop(model, data, trained.sequences, held_out)
    write_preview(out / "preview.png", model, data, run)
    shown = _shown(model, trained.latents)
    metrics = {
        "psnr_autoencoder": psnr(shown[some], data.frames[some]),
        "open_loop": open_loop_table(model, data, run, trained.probe),
        "state_error": np.abs(state[rows] - data.state[rows]).mean(0).tolist(),
        **score_metrics(score, data, rows, threshold),
    }
    if trained.probe is not None:
        metrics["label_error_real"] = label_errors(trained.probe, data.frames[some], data, some)
        metrics["label_error_shown"] = label_errors(trained.probe, shown[some], data, some)
    return metrics


def _shown(model: WorldModel, latents: Tensor) -> np.ndarray:
    with torch.inference_mode():
        return np.concatenate([model.decode(part.float()) for part in latents.split(256)])


def _task(interaction: Path) -> str:
    from ...storage.dataset import open_dataset

    return next(summary.task for summary in open_dataset(interaction).summaries())


@contextlib.contextmanager
def _half_the_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, before // 2))
    try:
        yield
    finally:
        torch.set_num_threads(before)
