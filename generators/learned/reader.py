"""Numbers read from an image or a latent: poses, state, score."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .layers import Linear, ResBlock, coordinates

_NUM_KEYPOINTS = 32


class Reader(nn.Module):
    """Keypoints by spatial soft-argmax (Finn et al., arXiv 1509.06113), then a small MLP.

    A keypoint is a mean over cells, so that it moves smoothly and far below the size of a cell.

    Args:
        channels: of the input; its height and width are those of the features.
        num_outputs: numbers to read.
        width: channels of the features.
    """

    grid: Tensor

    def __init__(
        self, channels: int, height: int, width: int, num_outputs: int, features: int, num_blocks: int
    ) -> None:
        super().__init__()
        self.register_buffer("grid", coordinates(height, width).flatten(1), persistent=False)
        self.stem = nn.Conv2d(channels, features, 3, padding=1)
        self.place = nn.Parameter(0.02 * torch.randn(features, height, width))
        self.blocks = nn.ModuleList(ResBlock(features) for _ in range(num_blocks))
        self.keypoints = nn.Conv2d(features, 2 * _NUM_KEYPOINTS, 1)
        self.mlp = nn.Sequential(
            Linear(3 * _NUM_KEYPOINTS, 128), nn.SiLU(), Linear(128, 128), nn.SiLU(), Linear(128, num_outputs)
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, channels, H, W) -> (B, num_outputs) float32."""
        x = self.stem(x) + self.place
        for block in self.blocks:
            x = block(x)
        attention, value = self.keypoints(F.silu(x)).float().flatten(2).chunk(2, dim=1)
        weight = torch.softmax(attention, -1)
        values = (weight * value).sum(-1)
        with torch.autocast(x.device.type, enabled=False):
            places = torch.bmm(weight, self.grid.t().expand(len(weight), -1, -1)).flatten(1)
            out: Tensor = self.mlp(torch.cat([places, values], 1))
        return out
