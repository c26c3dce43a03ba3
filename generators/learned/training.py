"""The whole training of a learned world: autoencoder, dynamics, decoder touch-up, heads, probe, and how good it is."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...storage.atomic import make_folder, publish_folder, share_files, write_json
from ...storage.progress import Progress, silent
from ..probe import Probe, Reconstruct, fit_probe, label_errors, new_probe
from .action_following import misreadings
from .autoencoder_training import encode_all, set_background, touch_up_decoder, train_autoencoder
from .body_frames import BodyFrames
from .calibration import calibrate_trust
from .checkpoint import save_pretrained
from .devices import choose_device, run_on
from .dynamics_training import train_dynamics
from .evaluation import open_loop_table, psnr, roll_open_loop, score_metrics
from .head_training import choose_success_threshold, read_scores, train_inverse_dynamics, train_latent_score_head
from .interaction import Interaction, read_interaction
from .model import WorldModel, vector_names
from .moments import Moments, claim_folder, fingerprint_of
from .peers import Peers, check_processes, open_peers
from .plausibility_training import learn_what_occurs, leave_out_if_harmful
from .preview import write_preview
from .rollout_pool import RolloutPool
from .sequences import Sequences
from .starts import choose_starts
from .timeline import Timeline
from .trackers import open_tracker
from .training_config import WorldTrainingConfig
from .training_log import TrainingLog
from .training_stage import Training
from .validation import OpenLoopCheck, VectorCheck
from .vector_training import train_score_head, train_vector_dynamics, vectors_after_the_end

_NUM_MEASURED_ROWS = 2000
#: In the folder of saved moments; what it holds goes to the checkpoint.
_LOG = "log"


def train_world(
    interaction: Path, out: Path, config: WorldTrainingConfig, progress: Progress = silent, work: Path | None = None
) -> dict[str, Any]:
    """Train a world on interaction data and publish it as `out`, with its probe in `out/probe` if there are labels.

    Beside the checkpoint lie `metrics.jsonl` (losses), `metrics.json` (what is returned; `seconds` are those of all
    tries together), `preview.png` and what the tracker wrote, if any. The networks that read frames train in a second
    thread, as two single-threaded trainings on two cores do more than one on both.

    Args:
        interaction: a dataset.
        out: must not exist, or be empty.
        config: how to train.
        progress: told how far it is.
        work: folder of the saved moments, `OUT.training` if None. A training that was killed goes on from them and
            ends with the weights, to the bit, that it would have ended with; they are deleted at the end.

    Raises:
        StoreError: there is no dataset at `interaction`, or something stands at `out`.
        ConfigError: the data does not suit a learned world, or the config this machine; the message says why.
        CheckpointError: a saved moment cannot be read.
        FleetError: one of several processes ended early.
    """
    began = time.monotonic()
    work = work or out.with_name(f"{out.name}.training")
    check_processes(config.num_processes)
    with publish_folder(out) as made:
        data = read_interaction(interaction, multiple=config.model.canvas_multiple)
        with _begin(interaction, data, config, progress, work, began) as training:
            trained = _train(data, config, training)
        metrics = _measure(trained, data, config, made)
        metrics |= {"seconds": round(training.moments.seconds, 1), "frames": len(data.frames)}
        rows = choose_starts(data, config.num_starts)
        save_pretrained(made, trained.model, trained.probe, data.frames[rows], data.state[rows], data.task[rows])
        write_json(made / "metrics.json", metrics)
        shutil.copytree(work / _LOG, made, symlinks=True, dirs_exist_ok=True)
        share_files(made)
    shutil.rmtree(work)
    return metrics


@contextlib.contextmanager
def _begin(
    interaction: Path, data: Interaction, config: WorldTrainingConfig, progress: Progress, work: Path, began: float
) -> Iterator[Training]:
    """Open the log and the saved moments, and start the other processes."""
    fingerprint = fingerprint_of(data, config.identity())
    claim_folder(work, fingerprint)
    make_folder(work / _LOG)
    with contextlib.ExitStack() as stack:
        tracker = open_tracker(config.log_to, work / _LOG, fingerprint[:16])
        if tracker is not None:
            stack.callback(tracker.close)
        peers = stack.enter_context(open_peers(config.num_processes, _train_as_peer, interaction, config, work))
        stack.enter_context(_share_of_threads(config.num_processes))
        log = TrainingLog(work / _LOG / "metrics.jsonl", _num_steps(config, data), progress, tracker)
        yield Training(config.seed, log, Moments(work, config.save_every_s, began), peers, config.check_every)


def _train_as_peer(peers: Peers, interaction: Path, config: WorldTrainingConfig, work: Path) -> None:
    """The same training in another process, on batches of its own; the first process logs and saves."""
    training = Training(config.seed, TrainingLog(work / _LOG / "metrics.jsonl", 0), Moments(work), peers)
    with _share_of_threads(peers.size):
        _train(read_interaction(interaction, multiple=config.model.canvas_multiple), config, training)


@dataclass(frozen=True)
class _Trained:
    model: WorldModel
    probe: Probe | None
    sequences: Sequences


def _train(data: Interaction, config: WorldTrainingConfig, training: Training) -> _Trained:
    torch.manual_seed(config.seed)
    train, held_out = data.split(config.held_out)
    rows = data.rows(train)
    model = WorldModel(config.model, data.spec, data.tasks)
    set_background(model, data.frames, rows)
    probe = new_probe(data, config.probe) if data.labels else None
    device = choose_device(config.device)
    run_on(device, *model.wide_networks)
    if probe is not None:
        run_on(device, probe.net.stem, probe.net.reader)
    vectors = model.scale_vectors(data.state, data.labels)
    actions = model.scale_actions(torch.from_numpy(data.action))
    timeline = Timeline(data.starts, train)
    with training.second_thread() as beside:
        beside(_train_by_numbers, model, probe, vectors, actions, timeline, data, rows, config, training)
        train_autoencoder(
            model, data, rows, config.autoencoder_steps, config.autoencoder_batch, config.crop, config.lr,
            training.stage("autoencoder"),
        )  # fmt: skip
        latents = encode_all(model, data.frames)
        sequences = Sequences(
            timeline, latents, vectors, actions, config.model.history, config.model.anchor, torch.from_numpy(data.task)
        )
        beside(_train_readers, model, probe, sequences, data, rows, config, training)
        check = OpenLoopCheck(model, data, sequences, held_out)
        train_dynamics(model, sequences, config.dynamics, training.stage("dynamics"), check)
    stage = training.stage("decoder")
    pool = RolloutPool(sequences, config.head_batch, stage.rng)
    touch_up_decoder(model, data, pool, config.decoder_steps, config.lr / 4, stage)
    return _Trained(model.eval(), probe, sequences)


def _train_by_numbers(
    model: WorldModel, probe: Probe | None, vectors: Tensor, actions: Tensor, timeline: Timeline, data: Interaction,
    rows: np.ndarray, config: WorldTrainingConfig, training: Training,
) -> None:  # fmt: skip
    """What needs no latents: the dynamics of state and labels, the score that follows from them, half of the probe."""
    stage = training.stage("state and labels")
    train, held_out = data.split(config.held_out)
    check = VectorCheck(model, data, vectors, actions, held_out)
    train_vector_dynamics(model, vectors, actions, timeline, config.vectors, stage, check)
    if probe is None or model.plausibility is None:
        return
    learn_what_occurs(model, model.plausibility, vectors, actions, timeline, config.vectors, training)
    leave_out_if_harmful(model, model.plausibility, vectors, actions, Timeline(data.starts, held_out))
    scored = torch.from_numpy(rows[data.scored[rows]])
    after = vectors_after_the_end(model, vectors, actions, data.starts[1:][train] - 1, timeline).clone()
    known = torch.cat([vectors[scored], after])
    score = torch.cat([torch.from_numpy(data.score)[scored], torch.from_numpy(data.final_score[train])])
    task = torch.from_numpy(np.concatenate([data.task[scored], data.task[data.starts[:-1][train]]]))
    stage = training.stage("score")
    train_score_head(model, known, score, task, config.head_steps, config.vectors.batch_size, config.lr, stage)
    fit_probe(probe, data, rows, config.probe, _half(config.probe.num_steps), training.stage("probe"))


def _train_readers(
    model: WorldModel, probe: Probe | None, sequences: Sequences, data: Interaction, rows: np.ndarray,
    config: WorldTrainingConfig, training: Training,
) -> None:  # fmt: skip
    """What reads frames or latents: the other half of the probe, or without labels the score; and actions."""
    batch_size, lr = config.head_batch, config.lr
    if probe is not None:
        stage = training.stage("probe on shown frames")
        reconstruct = _reconstruct(model, stage.noise)
        fit_probe(probe, data, rows, config.probe, _half(config.probe.num_steps), stage, reconstruct)
    else:
        score, scored, task = torch.from_numpy(data.score), rows[data.scored[rows]], torch.from_numpy(data.task)
        stage, latents = training.stage("score"), sequences.latents
        train_latent_score_head(model, latents, score, task, scored, config.head_steps, batch_size, lr, stage)
    if model.inverse_dynamics is not None:
        stage = training.stage("inverse dynamics")
        train_inverse_dynamics(model.inverse_dynamics, sequences, config.inverse_steps, batch_size, lr, stage)


def _half(num_steps: int) -> int:
    return max(1, num_steps // 2)


def _reconstruct(model: WorldModel, noise: torch.Generator) -> Reconstruct:
    """Frames as the model shows them when its latents are a little wrong."""

    @torch.no_grad()
    def reconstruct(frames: Tensor) -> Tensor:
        latents = model.autoencoder.encode(frames)
        level = 0.05 * torch.rand(len(latents), 1, 1, 1, generator=noise)
        seen = latents + level * torch.randn(latents.shape, generator=noise)
        shown = model.decode_float(seen, torch.randn(model.frame_noise_shape(len(frames)), generator=noise))
        return shown.clamp(0, 1)

    return reconstruct


def _num_steps(config: WorldTrainingConfig, data: Interaction) -> int:
    stages = config.autoencoder_steps + config.dynamics.num_steps + config.decoder_steps
    stages += config.inverse_steps if config.model.reads_actions_back(bool(data.labels)) else 0
    stages += config.vectors.num_steps + config.head_steps
    if not data.labels:
        return stages
    num_nets = 2 if BodyFrames(vector_names(data.spec), 0).size else 1
    return stages + num_nets * config.vectors.plausibility_steps + 2 * _half(config.probe.num_steps)


def _measure(trained: _Trained, data: Interaction, config: WorldTrainingConfig, out: Path) -> dict[str, Any]:
    """Set the thresholds of success and trust from data, and measure on the held-out episodes."""
    # A training that went on draws what one in a single piece would have.
    torch.manual_seed(config.seed)
    model = trained.model
    _, held_out = data.split(config.held_out)
    rows = data.rows(held_out)
    latents = trained.sequences.latents
    score = read_scores(model, latents, trained.sequences.vectors, torch.from_numpy(data.task))
    threshold = choose_success_threshold(*_scores_to_part(trained, data, score))
    model.success_threshold.fill_(threshold)
    some = rows[trained.sequences.timeline.has_next(rows)][:: max(1, len(rows) // _NUM_MEASURED_ROWS)]
    calibrate_trust(model, trained.sequences, rows)
    run = roll_open_loop(model, data, trained.sequences, held_out)
    write_preview(out / "preview.png", model, data, run)
    shown = _shown(model, latents[torch.from_numpy(some)])
    metrics = {
        "psnr_autoencoder": psnr(shown, data.frames[some]),
        "open_loop": open_loop_table(model, data, run, trained.probe),
        **score_metrics(score, data, rows, threshold),
    }
    if (misread := misreadings(model, trained.sequences, some)) is not None:
        metrics["misread_actions"] = misread
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
        task = torch.from_numpy(data.task[data.starts[:-1]])
        after = model.score(sequences.latents[: len(vectors)], vectors, task).numpy()
    return np.concatenate([read, after]), np.concatenate([true, data.final_success])


def _shown(model: WorldModel, latents: Tensor) -> np.ndarray:
    with torch.inference_mode():
        return np.concatenate([model.decode(part.float()) for part in latents.split(256)])


@contextlib.contextmanager
def _share_of_threads(num_processes: int) -> Iterator[None]:
    """Let each of torch's trainings, two in each process, have its share of the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, before // (2 * num_processes)))
    try:
        yield
    finally:
        torch.set_num_threads(before)
