"""Latents to frames out of noise, in one step or a few."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

from .autoencoder import HALF_WIDTH, Decoder
from .consistency import NoiseScale, NoisyChange
from .layers import Linear

#: What latents leave open of a pixel is little, and noise that was left on it would be seen.
PIXELS = NoiseScale(usual=0.02, largest=2.0, smallest=0.1, share_largest=0.5, num_stages=1, hides=True)


class _Pixels(nn.Conv2d):
    """(B, 3V, H, W) -> (B, channels, H/side, W/side), at first zeros, so that a decoder begins as a direct one."""

    def __init__(self, num_cameras: int, side: int, channels: int) -> None:
        super().__init__(3 * num_cameras * side**2, channels, 3, padding=1)
        self._side = side
        nn.init.zeros_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """See squares of pixels as cells."""
        return super().forward(F.pixel_unshuffle(x, self._side))


class ConsistencyDecoder(Decoder):
    """The direct decoder, which also sees the frame under noise: the latents say what is there, the noise which of it.

    The noisy pixels enter twice, as cells beside the latents and in detail before the last layers, each time with how
    much noise is on them. The Interactive World Simulator decodes so with a network of 28 million parameters; this one
    is as small as its direct sibling.
    """

    def __init__(self, num_cameras: int, latent_channels: int, width: int, downscale: int = 4) -> None:
        super().__init__(num_cameras, latent_channels, width, downscale)
        self.cells = _Pixels(num_cameras, downscale, width)
        self.detail = _Pixels(num_cameras, 2, HALF_WIDTH)
        self.level = nn.Sequential(Linear(1, width), nn.SiLU(), Linear(width, width + HALF_WIDTH))
        self._sizes = [width, HALF_WIDTH]

    def forward(self, z: Tensor, noisy: NoisyChange | None = None) -> Tensor:
        """Decode to the difference from the background, given that difference under noise, (B, 3V, H, W)."""
        assert noisy is not None
        change, (_, level) = noisy.guess(), noisy.scaled()
        coarse, fine = self.level(level)[..., None, None].split(self._sizes, 1)
        x = self.net[1:-4](self.net[0](z) + self.cells(change) + coarse)
        return noisy.resolve(self.net[-4:](x + self.detail(change) + fine).float())
