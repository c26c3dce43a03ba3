"""Training of the autoencoder: at first on frames, at last on what the dynamics makes of them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ...storage.row_table import Column
from .autoencoder import Autoencoder, reconstruction_loss
from .consistency import NoisyChange, Objective
from .consistency_decoder import PIXELS
from .crops import draw_crops
from .interaction import Interaction
from .model import WorldModel, to_float
from .optimisation import autocast, frozen, optimise
from .rollout_pool import RolloutPool
from .training_stage import TrainingStage

#: Largest standard deviation of the noise on the latents, so that decoding is smooth between and around them.
_LATENT_NOISE = 0.1
_CYCLE_WEIGHT = 0.1
#: The touch-up follows rollouts for some steps, and only while their error is small enough to be the decoder's to mend.
_TOUCH_UP_LENGTH = 8
_TOUCH_UP_LIMIT = 0.1


def set_background(model: WorldModel, frames: Column, rows: np.ndarray) -> None:
    """Take the median of some hundred frames of `rows` as what the camera sees when nothing is in front of it."""
    some = frames[rows[:: max(1, len(rows) // 400)]]
    model.autoencoder.background.copy_(to_float(np.median(some, axis=0)[None].astype(np.uint8))[0])


def train_autoencoder(
    model: WorldModel, data: Interaction, rows: np.ndarray, num_steps: int, batch_size: int, crop: int, lr: float,
    stage: TrainingStage,
) -> None:  # fmt: skip
    """Train encoder and decoder on the frames of `rows`, the latents made noisy between them.

    Most steps see windows of `crop` latent cells; every fourth sees whole frames, which are what counts later.
    A cycle term lets the encoder find a latent again in what was decoded from it: the trust of a world rests on it.
    """
    autoencoder, rng, noise = model.autoencoder, stage.rng, stage.noise
    objective = Objective(model.samples_frames, noise, PIXELS)
    foreground = _foreground_cells(model, data.frames)

    def loss_at(step: int) -> Tensor:
        if step % 4 == 3:
            difference = to_float(data.frames[rng.choice(rows, batch_size // 4)]) - autoencoder.background
        else:
            chosen = rng.choice(rows, batch_size)
            crops = draw_crops(foreground[torch.from_numpy(chosen)], crop, noise).in_pixels(model.config.downscale)
            difference = to_float(crops.of_frames(data.frames, chosen)) - crops.of_maps(autoencoder.background)
        with autocast():
            latents = autoencoder.encoder(difference)
            seen = latents + _noise(latents, noise)
            loss, decoded = _decoding_loss(autoencoder, objective, seen, difference, step / num_steps)
            if step % 4 == 0:
                loss = loss + _CYCLE_WEIGHT * F.mse_loss(autoencoder.encoder(decoded), latents.detach())
        return loss

    optimise([autoencoder], loss_at, num_steps, lr, stage)


def _decoding_loss(
    autoencoder: Autoencoder, objective: Objective, latents: Tensor, difference: Tensor, done: float
) -> tuple[Tensor, Tensor]:
    """The loss of decoding when a share `done` of the training is over; also what was decoded."""

    def decode(noisy: NoisyChange | None) -> tuple[Tensor]:
        return (autoencoder.decoder(latents, noisy),)

    (decoded,), aim, weight = objective.compare(decode, difference, difference, done)
    return weight * reconstruction_loss(decoded, aim, difference), decoded


def _foreground_cells(model: WorldModel, frames: Column) -> Tensor:
    """(R, H, W) uint8, for each latent cell: 1 where some pixel of the cell differs from the background."""
    background = model.autoencoder.background
    parts = []
    for at in range(0, len(frames), 512):
        difference = (to_float(frames[at : at + 512]) - background).abs().amax(1, keepdim=True)
        parts.append((F.max_pool2d(difference, model.config.downscale)[:, 0] > 0.1).to(torch.uint8))
    return torch.cat(parts)


def touch_up_decoder(
    model: WorldModel, data: Interaction, pool: RolloutPool, num_steps: int, lr: float, stage: TrainingStage
) -> None:
    """Train the decoder alone on latents which the dynamics rolled out, towards the real frames they stand for."""
    autoencoder, noise = model.autoencoder, stage.noise
    objective = Objective(model.samples_frames, noise, PIXELS)

    def loss_at(step: int) -> Tensor:
        with torch.inference_mode():
            predicted = model.draw(
                pool.history,
                pool.sequences.following_vector(pool.rows),
                pool.sequences.action_history(pool.rows),
                pool.sequences.task(pool.rows),
                torch.randn(model.noise_shape(len(pool.rows)), generator=noise),
            )
            pool.follow(predicted, _TOUCH_UP_LIMIT, _TOUCH_UP_LENGTH)
        latents = pool.history[:, -1].clone()
        difference = to_float(data.frames[pool.rows]) - autoencoder.background
        seen = latents + 0.2 * _noise(latents, noise)
        with autocast():
            loss, _ = _decoding_loss(autoencoder, objective, seen, difference, done=1.0)
        return loss

    with frozen(autoencoder.encoder, model.dynamics):
        optimise([autoencoder.decoder], loss_at, num_steps, lr, stage, [pool])


def _noise(latents: Tensor, noise: torch.Generator) -> Tensor:
    """Gaussian noise with another standard deviation, up to the largest, for each sample."""
    level = _LATENT_NOISE * torch.rand(len(latents), 1, 1, 1, generator=noise)
    return level * torch.randn(latents.shape, generator=noise)


def encode_all(model: WorldModel, frames: Column) -> Tensor:
    """Latents (R, C, H, W) float16 of all frames."""
    with torch.inference_mode():
        return torch.cat([model.encode(frames[at : at + 256]).half() for at in range(0, len(frames), 256)])
