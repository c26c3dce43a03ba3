"""A next latent or a frame in few steps out of noise: what a consistency model adds to a regression.

A consistency model is shown a change under Gaussian noise of a level it is told, and says what change that is: of the
next latent from the present one, or of a frame from the background. Under the largest noise the noisy change tells it
nothing, so that it does what a regression does, which is the case of one step whose noise carries nothing. Trained as
in Easy Consistency Tuning (Geng et al., arXiv 2406.14548): its answers under two levels of the same noise must be the
same, the lower of them being no noise at first (a denoiser) and ever nearer to the higher as training goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

#: Each step of sampling has a fraction of the noise of the one before.
_NEXT = 0.25


@dataclass(frozen=True)
class NoiseScale:
    """How large noise is beside what it hides.

    Args:
        usual: size of a change where there is one.
        largest, smallest: standard deviation of the noise.
        share_largest: of the samples to learn from are under the largest noise, where sampling begins.
        num_stages: how often, over a training, the lower level comes nearer to the higher, from none of it to half, 3
            quarters and so on. With one a model learns from what really came alone.
        hides: whether the largest noise stands alone, as where sampling begins. A change of many numbers at once is
            seen even through that, and a model that looks for it would find nothing there when it samples.
    """

    usual: float
    largest: float
    smallest: float
    share_largest: float
    num_stages: int
    hides: bool = False


#: Latents lie in [-1, 1]; the largest noise is far above a change of theirs.
LATENTS = NoiseScale(usual=0.2, largest=2.0, smallest=0.02, share_largest=0.25, num_stages=4)


@dataclass(frozen=True)
class NoisyChange:
    """A change under noise.

    Args:
        change: (B, C, H, W).
        level: (B,) standard deviation of the noise on it.
        scale: of all such noise.
    """

    change: Tensor
    level: Tensor
    scale: NoiseScale = LATENTS

    def scaled(self) -> tuple[Tensor, Tensor]:
        """The change at the size of 1 whatever its noise, and the level as a number (B, 1) near [-1, 1]."""
        size = (self.level.square() + self.scale.usual**2).sqrt()
        return self.change / _wide(size), (self.level / self.scale.largest).log()[:, None] / 4

    def guess(self) -> Tensor:
        """What the noisy change alone says of the change, at the size of 1: the less, the more noise there is."""
        return self._keep() * self.change / self.scale.usual

    def resolve(self, predicted: Tensor) -> Tensor:
        """What the network says, but for the noisy change itself the less noise there is; at level 0 nothing else."""
        keep = self._keep()
        return keep * self.change + (1 - keep) * predicted

    def _keep(self) -> Tensor:
        usual = self.scale.usual**2
        return _wide(usual / (self.level.square() + usual))


def sampling_levels(num_steps: int, scale: NoiseScale = LATENTS) -> list[float]:
    """The noise level of each step of sampling, the largest first."""
    return [scale.largest * _NEXT**step for step in range(num_steps)]


def sample(
    predict: Callable[[NoisyChange | None], Tensor], base: Tensor, num_steps: int, noise: Tensor | None,
    scale: NoiseScale = LATENTS,
) -> Tensor:  # fmt: skip
    """What a consistency model predicts in so many steps, or a regression, which has none out of noise.

    Args:
        predict: says what becomes of `base` from the change to it under noise.
        base: (B, C, H, W).
        noise: (B, num_steps, C, H, W) standard normal; always the same if None.
        scale: of the noise.
    """
    if num_steps == 0:
        return predict(None)
    if noise is None:
        shape = (len(base), num_steps, *base.shape[1:])
        noise = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    found = base
    for step, level in enumerate(sampling_levels(num_steps, scale)):
        found = predict(_under_noise(found - base, base.new_full((len(base),), level), noise[:, step], scale))
    return found


#: A change under noise, or nothing for a regression -> a prediction, and what else was said with it.
Predict = Callable[[NoisyChange | None], tuple[Tensor, ...]]


class Objective:
    """What predictions are to be: what really came, or what the model itself says under less noise.

    Args:
        samples: whether the model is a consistency model, else a regression.
        noise: where chance comes from.
        scale: of the noise that changes are hidden in.
    """

    def __init__(self, samples: bool, noise: torch.Generator, scale: NoiseScale = LATENTS) -> None:
        self._samples, self._noise, self._scale = samples, noise, scale

    def compare(
        self, predict: Predict, change: Tensor, target: Tensor, done: float, begins: bool = False
    ) -> tuple[tuple[Tensor, ...], Tensor, float]:
        """Predict, and say what it should have been.

        Args:
            change: (B, C, H, W) the real change.
            target: (B, C, H, W) what really came of it.
            done: share of the training that is over.
            begins: under the largest noise, where sampling begins.

        Returns:
            What `predict` said, what its prediction should be, and how much the difference weighs.
        """
        if not self._samples:
            return predict(None), target, 1.0
        level = self._levels(len(change), begins)
        white = torch.randn(change.shape, generator=self._noise)
        shown = torch.where(_wide(level) < self._scale.largest, change, 0.0) if self._scale.hides else change
        said = predict(_under_noise(shown, level, white, self._scale))
        stage = min(int(done * self._scale.num_stages), self._scale.num_stages - 1)
        if stage > 0:
            with torch.no_grad():
                target, *_ = predict(_under_noise(change, level * (1 - 0.5**stage), white, self._scale))
        return said, target, 2.0**stage

    def _levels(self, count: int, begins: bool) -> Tensor:
        """(B,) spread evenly over orders of magnitude, but for a share at the largest."""
        largest, smallest = self._scale.largest, self._scale.smallest
        if begins:
            return torch.full((count,), largest)
        level = smallest * (largest / smallest) ** torch.rand(count, generator=self._noise)
        return torch.where(torch.rand(count, generator=self._noise) < self._scale.share_largest, largest, level)


def white_noise(seeds: Tensor, steps: Tensor, shape: Sequence[int], use: int = 0) -> Tensor:
    """(N, *shape) standard normal float32 for N slots, each a function of its own seed and step alone.

    Args:
        seeds, steps: (N,) int64, not negative.
        use: what it is for, as a number; each use has numbers of its own.
    """
    drawn = torch.empty(len(seeds), *shape)
    if drawn.numel():
        for slot, (seed, step) in enumerate(zip(seeds.tolist(), steps.tolist(), strict=True)):
            # Each step has a part of the counter to itself, and of it each use one of 2**64 blocks.
            chance = np.random.Generator(np.random.Philox(key=seed, counter=(step << 128) + (use << 64)))
            chance.standard_normal(dtype=np.float32, out=drawn[slot].numpy())
    return drawn


def _under_noise(change: Tensor, level: Tensor, white: Tensor, scale: NoiseScale) -> NoisyChange:
    return NoisyChange(change + _wide(level) * white, level, scale)


def _wide(numbers: Tensor) -> Tensor:
    return numbers[:, None, None, None]
