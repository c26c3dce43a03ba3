"""Training on pieces: square windows around what matters cost a quarter of a frame and hold most of its news."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ...storage.row_table import Column


@dataclass(frozen=True)
class Crops:
    """One window for each of B samples.

    Args:
        ys, xs: (B, n) int64, the rows and the columns of the window.
    """

    ys: Tensor
    xs: Tensor

    def of_maps(self, maps: Tensor) -> Tensor:
        """The windows of maps (C, H, W) that all samples share: (B, C, n, n)."""
        return maps[:, self.ys[:, :, None], self.xs[:, None, :]].transpose(0, 1)

    def of_samples(self, values: Tensor) -> Tensor:
        """The windows of values (B, H, W), each sample's own: (B, 1, n, n) float32."""
        sample = torch.arange(len(values))[:, None, None]
        return values[sample, self.ys[:, :, None], self.xs[:, None, :]][:, None].float()

    def of_latents(self, latents: Tensor, rows: Tensor) -> Tensor:
        """The windows of latents (R, C, H, W) at rows (B,): (B, C, n, n) float32."""
        return latents[rows[:, None, None], :, self.ys[:, :, None], self.xs[:, None, :]].float().permute(0, 3, 1, 2)

    def of_frames(self, frames: Column, rows: np.ndarray) -> np.ndarray:
        """The windows, in pixels, of frames (R, H, W, C) at rows (B,): (B, n, n, C)."""
        window: np.ndarray = frames[rows[:, None, None], self.ys.numpy()[:, :, None], self.xs.numpy()[:, None, :]]
        return window

    def in_pixels(self, downscale: int) -> Crops:
        """The same windows where the image is counted in pixels, so many along a side of a latent cell."""
        inside = torch.arange(downscale)
        ys, xs = ((downscale * cells[:, :, None] + inside).flatten(1) for cells in (self.ys, self.xs))
        return Crops(ys, xs)


def draw_crops(importance: Tensor, size: int, noise: torch.Generator) -> Crops:
    """Windows around cells drawn by their importance, off centre by up to a quarter of the window.

    Args:
        importance: (B, H, W), not negative.
        size: cells along a side, even; a smaller image gives smaller windows.
        noise: where chance comes from.
    """
    batch, height, width = importance.shape
    weight = importance.flatten(1).float() + 1e-3
    cell = torch.multinomial(weight, 1, generator=noise)[:, 0]
    jitter = torch.randint(-(size // 4), size // 4 + 1, (2, batch), generator=noise)
    # Windows begin at even cells, where the half resolution of the dynamics begins too.
    ys = _window(cell // width + jitter[0], size, height)
    xs = _window(cell % width + jitter[1], size, width)
    return Crops(ys, xs)


def _window(centre: Tensor, size: int, limit: int) -> Tensor:
    size = min(size, limit)
    begin = (centre - size // 2).clamp(0, limit - size) // 2 * 2
    return begin[:, None] + torch.arange(size)
