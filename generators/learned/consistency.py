"""A next latent in few steps out of noise: what a consistency model adds to a regression.

A consistency model is shown the change to the next latent under Gaussian noise of a level it is told, and says what
change that is. Under the largest noise the noisy change tells it nothing, so that it does what a regression does,
which is the case of one step whose noise carries nothing. Trained as in Easy Consistency Tuning (Geng et al., arXiv
2406.14548) on changes of latents instead of images: its answers under two levels of the same noise must be the same,
the lower of them being no noise at first (a denoiser) and ever nearer to the higher as training goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .config import Prediction

#: Standard deviation of the noise: far above that of changes, and below what one could see.
LARGEST, _SMALLEST = 2.0, 0.02
#: Usual size of the change of a cell that changes.
_CHANGE = 0.2
#: Each step of sampling has a fraction of the noise of the one before.
_NEXT = 0.25
#: Sampling always begins at the largest level, so that so many samples are trained there.
_SHARE_LARGEST = 0.25
#: How often, over a training, the lower level comes nearer to the higher: from none of it to 7 eighths.
_NUM_STAGES = 4


@dataclass(frozen=True)
class NoisyChange:
    """A change under noise.

    Args:
        change: (B, C, H, W).
        level: (B,) standard deviation of the noise on it.
    """

    change: Tensor
    level: Tensor

    def scaled(self) -> tuple[Tensor, Tensor]:
        """The change at the size of 1 whatever its noise, and the level as a number (B, 1) near [-1, 1]."""
        size = (self.level.square() + _CHANGE**2).sqrt()
        return self.change / _wide(size), (self.level / LARGEST).log()[:, None] / 4

    def resolve(self, predicted: Tensor) -> Tensor:
        """What the network says, but for the noisy change itself the less noise there is; at level 0 nothing else."""
        keep = _wide(_CHANGE**2 / (self.level.square() + _CHANGE**2))
        return keep * self.change + (1 - keep) * predicted


def sampling_levels(num_steps: int) -> list[float]:
    """The noise level of each step of sampling, the largest first."""
    return [LARGEST * _NEXT**step for step in range(num_steps)]


#: A change under noise, or nothing for a regression -> the next latent and the gate's logits.
Predict = Callable[[NoisyChange | None], tuple[Tensor, Tensor]]


class Objective:
    """What predictions are to be: the real next latent, or what the model itself says under less noise.

    Args:
        prediction: see WorldConfig.
        noise: where chance comes from.
    """

    def __init__(self, prediction: Prediction, noise: torch.Generator) -> None:
        self._sampled, self._noise = prediction == "consistency", noise

    def compare(
        self, predict: Predict, change: Tensor, target: Tensor, done: float, begins: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, float]:
        """Predict, and say what it should have been.

        Args:
            change: (B, C, H, W) the real change of the latent.
            target: (B, C, H, W) the real next latent.
            done: share of the training that is over.
            begins: under the largest noise, where sampling begins.

        Returns:
            The prediction, the gate's logits, what the prediction should be, and how much the difference weighs.
        """
        if not self._sampled:
            return *predict(None), target, 1.0
        level = self._levels(len(change), begins)
        white = torch.randn(change.shape, generator=self._noise)
        predicted, gate = predict(_under_noise(change, level, white))
        stage = min(int(done * _NUM_STAGES), _NUM_STAGES - 1)
        if stage > 0:
            with torch.no_grad():
                target, _ = predict(_under_noise(change, level * (1 - 0.5**stage), white))
        return predicted, gate, target, 2.0**stage

    def _levels(self, count: int, begins: bool) -> Tensor:
        """(B,) spread evenly over orders of magnitude, but for a share at the largest."""
        if begins:
            return torch.full((count,), LARGEST)
        level = _SMALLEST * (LARGEST / _SMALLEST) ** torch.rand(count, generator=self._noise)
        return torch.where(torch.rand(count, generator=self._noise) < _SHARE_LARGEST, LARGEST, level)


def white_noise(seeds: Tensor, steps: Tensor, shape: Sequence[int]) -> Tensor:
    """(N, *shape) standard normal float32 for N slots, each a function of its own seed and step alone.

    Args:
        seeds, steps: (N,) int64, not negative.
    """
    drawn = torch.empty(len(seeds), *shape)
    if drawn.numel():
        for slot, (seed, step) in enumerate(zip(seeds.tolist(), steps.tolist(), strict=True)):
            # Each step has a part of the counter to itself, 2**128 blocks long.
            chance = np.random.Generator(np.random.Philox(key=seed, counter=step << 128))
            chance.standard_normal(dtype=np.float32, out=drawn[slot].numpy())
    return drawn


def _under_noise(change: Tensor, level: Tensor, white: Tensor) -> NoisyChange:
    return NoisyChange(change + _wide(level) * white, level)


def _wide(numbers: Tensor) -> Tensor:
    return numbers[:, None, None, None]
