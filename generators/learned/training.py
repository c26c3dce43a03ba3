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

from ...storage.atomic import share_files, write_json
from ...storage.progress import Progress, silent
from ..probe import Probe, fit_probe, label_errors, new_probe
from .autoencoder_training import encode_all, set_background, touch_up_decoder, train_autoencoder
from .checkpoint import save_pretrained
from .dynamics_training import train_dynamics
from .evaluation import one_step_cycle_errors, open_loop_table, psnr, roll_open_loop, score_metrics
from .head_training import choose_success_threshold, read_scores, train_latent_score_head
from .interaction import Interaction, read_interaction
from .model import WorldModel
from .optimisation import TrainingLog
from .preview import write_preview
from .rollout_pool import RolloutPool
from .sequences import Sequences
from .starts import choose_starts
from .timeline import Timeline
from .training_config import WorldTrainingConfig
from .trust import trust_bounds
from .vector_training import train_score_head, train_vector_dynamics, vectors_after_the_end

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
    frames, states = choose_starts(data, config.num_starts)
    save_pretrained(out, trained.model, trained.probe, task, frames, states)
    write_json(out / "metrics.json", metrics)
    share_files(out)
    return metrics


@dataclass(frozen=True)
class _Trained:
    model: WorldModel
    probe: Probe | None
    sequences: Sequences


def _train(data: Interaction, config: WorldTrainingConfig, log: TrainingLog) -> _Trained:
    rng = np.random.default_rng(config.seed)
    torch.manual_seed(config.seed)
    train, _ = data.split(config.held_out)
    rows = data.rows(train)
    model = WorldModel(config.model, data.spec)
    set_background(model, data.frames, rows)
    probe = new_probe(data, config.probe) if data.labels else None
    vectors = model.scale_vectors(data.state, data.labels)
    actions = model.scale_actions(torch.from_numpy(data.action))
    timeline = Timeline(data.starts, train)
    with ThreadPoolExecutor(1) as side:
        by_numbers = side.submit(_train_by_numbers, model, probe, vectors, actions, timeline, data, rows, config, log)
        train_autoencoder(
            model, data, rows, config.autoencoder_steps, config.autoencoder_batch, config.crop, config.lr, rng, log
        )
        latents = encode_all(model, data.frames)
        readers = side.submit(_train_readers, model, probe, latents, data, rows, config, log)
        sequences = Sequences(timeline, latents, vectors, actions, config.model.history)
        train_dynamics(model, sequences, config.dynamics, rng, log)
        by_numbers.result()
        readers.result()
    pool = RolloutPool(sequences, config.head_batch, rng)
    touch_up_decoder(model, data, pool, config.decoder_steps, config.lr / 4, log)
    return _Trained(model.eval(), probe, sequences)


def _train_by_numbers(
    model: WorldModel, probe: Probe | None, vectors: Tensor, actions: Tensor, timeline: Timeline, data: Interaction,
    rows: np.ndarray, config: WorldTrainingConfig, log: TrainingLog,
) -> None:  # fmt: skip
    """What needs no latents: the dynamics of state and labels, the score that follows from them, half of the probe."""
    rng = np.random.default_rng(config.seed + 1)
    train_vector_dynamics(
        model, vectors, actions, timeline, config.vector_steps, config.vector_batch, config.lr, rng, log
    )
    if probe is None:
        return
    scored = torch.from_numpy(rows[data.scored[rows]])
    train, _ = data.split(config.held_out)
    after = vectors_after_the_end(model, vectors, actions, data.starts[1:][train] - 1, timeline).clone()
    known = torch.cat([vectors[scored], after])
    score = torch.cat([torch.from_numpy(data.score)[scored], torch.from_numpy(data.final_score[train])])
    train_score_head(model, known, score, config.head_steps, config.vector_batch, config.lr, rng, log)
    fit_probe(probe, data, rows, config.probe, _half(config.probe.num_steps), log)


def _train_readers(
    model: WorldModel, probe: Probe | None, latents: Tensor, data: Interaction, rows: np.ndarray,
    config: WorldTrainingConfig, log: TrainingLog,
) -> None:  # fmt: skip
    """What reads frames or latents: the other half of the probe, or without labels the score."""
    if probe is not None:
        again = replace(config.probe, seed=config.probe.seed + 1)
        fit_probe(probe, data, rows, again, _half(again.num_steps), log, _reconstruct(model, config.seed))
        return
    rng, scored = np.random.default_rng(config.seed + 2), rows[data.scored[rows]]
    score = torch.from_numpy(data.score)
    train_latent_score_head(model, latents, score, scored, config.head_steps, config.head_batch, config.lr, rng, log)


def _half(num_steps: int) -> int:
    return max(1, num_steps // 2)


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


def _num_steps(config: WorldTrainingConfig, data: Interaction) -> int:
    stages = config.autoencoder_steps + config.dynamics.num_steps + config.decoder_steps
    stages += config.vector_steps + config.head_steps
    return stages + (2 * _half(config.probe.num_steps) if data.labels else 0)


def _measure(trained: _Trained, data: Interaction, config: WorldTrainingConfig, out: Path) -> dict[str, Any]:
    """Set the thresholds of success and trust from data, and measure on the held-out episodes."""
    model = trained.model
    _, held_out = data.split(config.held_out)
    rows = data.rows(held_out)
    latents = trained.sequences.latents
    score = read_scores(model, latents, trained.sequences.vectors)
    threshold = choose_success_threshold(*_scores_to_part(trained, data, score))
    model.success_threshold.fill_(threshold)
    some = rows[trained.sequences.timeline.has_next(rows)][:: max(1, len(rows) // _NUM_MEASURED_ROWS)]
    usual, limit = trust_bounds(one_step_cycle_errors(model, trained.sequences, some))
    model.trust_usual.fill_(usual)
    model.trust_limit.fill_(limit)
    run = roll_open_loop(model, data, trained.sequences, held_out)
    write_preview(out / "preview.png", model, data, run)
    shown = _shown(model, latents[torch.from_numpy(some)])
    metrics = {
        "psnr_autoencoder": psnr(shown, data.frames[some]),
        "open_loop": open_loop_table(model, data, run, trained.probe),
        **score_metrics(score, data, rows, threshold),
    }
    if trained.probe is not None:
        metrics["label_error_real"] = label_errors(trained.probe, data.frames[some], data, some)
        metrics["label_error_shown"] = label_errors(trained.probe, shown, data, some)
    return metrics


def _scores_to_part(trained: _Trained, data: Interaction, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores as read and true success, of all scored frames; with labels also of those after the episodes' ends."""
    read, true = score[data.scored], data.success[data.scored]
    if not data.labels:
        return read, true
    model, sequences = trained.model, trained.sequences
    vectors = vectors_after_the_end(
        model, sequences.vectors, sequences.actions, data.starts[1:] - 1, sequences.timeline
    )
    with torch.inference_mode():
        after = model.score(sequences.latents[: len(vectors)], vectors).numpy()
    return np.concatenate([read, after]), np.concatenate([true, data.final_success])


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
