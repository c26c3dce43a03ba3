"""Training of the autoencoder: at first on frames, at last on what the dynamics makes of them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from .autoencoder import reconstruction_loss
from .interaction import Interaction
from .model import WorldModel, to_float
from .optimisation import TrainingLog, autocast, frozen, optimise
from .rollout_pool import RolloutPool

#: Largest standard deviation of the noise on the latents, so that decoding is smooth between and around them.
_LATENT_NOISE = 0.1
_CYCLE_WEIGHT = 0.1
#: The touch-up follows rollouts for some steps, and only while their error is small enough to be the decoder's to mend.
_TOUCH_UP_LENGTH = 8
_TOUCH_UP_LIMIT = 0.1


def set_background(model: WorldModel, frames: np.ndarray) -> None:
    """Take the median of some hundred frames as what the camera sees when nothing is in front of it."""
    some = frames[:: max(1, len(frames) // 400)]
    model.autoencoder.background.copy_(to_float(np.median(some, axis=0)[None].astype(np.uint8))[0])


def train_autoencoder(
    model: WorldModel, data: Interaction, rows: np.ndarray, num_steps: int, batch_size: int, lr: float,
    rng: np.random.Generator, log: TrainingLog,
) -> None:  # fmt: skip
    """Train encoder and decoder on the frames of `rows`, the latents made noisy between them.

    A cycle term lets the encoder find a latent again in what was decoded from it: the trust of a world rests on it.
    """
    autoencoder = model.autoencoder

    def loss_at(step: int) -> Tensor:
        frames = to_float(data.frames[rng.choice(rows, batch_size)])
        with autocast():
            latents = autoencoder.encode(frames)
            decoded = autoencoder.decode(latents + _noise(latents))
            loss = reconstruction_loss(decoded, frames, autoencoder.background)
            if step % 4 == 0:
                again = autoencoder.encode(decoded.clamp(0, 1))
                loss = loss + _CYCLE_WEIGHT * F.mse_loss(again, latents.detach())
        return loss

    optimise([autoencoder], loss_at, num_steps, lr, "autoencoder", log)


def touch_up_decoder(
    model: WorldModel, data: Interaction, pool: RolloutPool, num_steps: int, lr: float, log: TrainingLog
) -> None:
    """Train the decoder alone on latents which the dynamics rolled out, towards the real frames they stand for."""
    autoencoder = model.autoencoder

    def loss_at(step: int) -> Tensor:
        with torch.inference_mode():
            predicted = model.predict(pool.history, pool.sequences.action_history(pool.rows))
            pool.follow(predicted, _TOUCH_UP_LIMIT, _TOUCH_UP_LENGTH)
        latents = pool.history[:, -1].clone()
        frames = to_float(data.frames[pool.rows])
        with autocast():
            decoded = autoencoder.decode(latents + 0.2 * _noise(latents))
            return reconstruction_loss(decoded, frames, autoencoder.background)

    with frozen(autoencoder.encoder, model.dynamics):
        optimise([autoencoder.decoder], loss_at, num_steps, lr, "decoder", log)


def _noise(latents: Tensor) -> Tensor:
    """Gaussian noise with another standard deviation, up to the largest, for each sample."""
    return torch.randn_like(latents) * _LATENT_NOISE * torch.rand(len(latents), 1, 1, 1)


def encode_all(model: WorldModel, frames: np.ndarray) -> Tensor:
    """Latents (R, C, H, W) float16 of all frames."""
    with torch.inference_mode():
        return torch.cat([model.encode(frames[at : at + 256]).half() for at in range(0, len(frames), 256)])
