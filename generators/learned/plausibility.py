"""Which vectors occur in reality, and the nearest that does."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .body_frames import BodyFrames, cosines_in
from .vector_dynamics import second_order, second_order_size

#: Standard deviations of disturbances, in the units of the vector, whose bounds are 1 from its centre.
_LEAST, _MOST = 0.03, 0.3
#: Real vectors are disturbed by this, so that what is learnt is where they lie and not which ones were seen.
_BLUR = 0.01
#: Directions are disturbed by so many radians for each unit of a place.
_TURN = 3.0
#: Logit below which a vector does not occur. Of real PushT vectors held out, one to two in a hundred are below.
_IMPLAUSIBLE = -3.5
_MOST_STEPS = 4
_NUM_WAVES = 96


class Plausibility(nn.Module):
    """Tells vectors with real labels from vectors with disturbed ones, and says how these were disturbed.

    Things that cannot be in one place, a wall and a block, are never seen so in the data. A dynamics that is a mean of
    what may happen can put them there all the same, and goes on from where nothing real ever was. The best guess at
    the undisturbed vector points up the density of the real ones (Alain and Bengio, arXiv 1211.4246), and is followed
    only from where there is none of it, so that what is plausible stays as it is to the bit.

    Args:
        names: of the vector's numbers.
        state_size: how many of them, at the beginning, are the robot's, which are not disturbed.
        width: of the hidden layers.
    """

    def __init__(self, names: Sequence[str], state_size: int, width: int) -> None:
        super().__init__()
        self.state_size = state_size
        self._cosines = [at for at in cosines_in(names) if at >= state_size]
        self._frames = BodyFrames(names, 0)
        num_seen = second_order_size(len(names)) + self._frames.size
        self.wave = nn.Linear(num_seen, _NUM_WAVES)
        nn.init.normal_(self.wave.weight, std=3.0 / num_seen**0.5)
        self.input = nn.Linear(num_seen + _NUM_WAVES, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.output = nn.Linear(width, len(names) - state_size + 1)
        self.forget()

    def forward(self, vector: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (B, D) -> the way back to what occurs, of their labels (B, D - S), and logits (B,) that they do."""
        none = vector[:, :0]
        x = torch.cat([second_order(2 * vector), self._frames(vector, vector, none, none)], 1)
        x = self.input(torch.cat([x, torch.sin(self.wave(x))], 1))
        for layer, norm in zip(self.hidden, self.norms[:-1], strict=True):
            x = x + layer(F.silu(norm(x)))
        way, logit = self.output(F.silu(self.norms[-1](x))).split([vector.shape[1] - self.state_size, 1], 1)
        return way, logit[:, 0]

    def settle(self, vector: Tensor) -> Tensor:
        """Vectors (B, D), those that do not occur led back to where they do, the others as they are."""
        settled = vector.to(self.output.weight.dtype)
        for _ in range(_MOST_STEPS):
            way, logit = self(settled)
            astray = logit < _IMPLAUSIBLE
            if not astray.any():
                break
            settled = torch.where(astray[:, None], self._moved(settled, way), settled)
        return settled.to(vector.dtype)

    @torch.no_grad()
    def share_astray(self, real: Tensor) -> float:
        """Of real vectors (N, D), the share taken for such as do not occur."""
        logits = torch.cat([self(part)[1] for part in real.split(4096)])
        return float((logits < _IMPLAUSIBLE).float().mean())

    @torch.no_grad()
    def forget(self) -> None:
        """Find everything plausible again, as before training."""
        self.output.weight.zero_()
        self.output.bias.zero_()

    def disturb(self, vector: Tensor, level: Tensor, noise: torch.Generator) -> Tensor:
        """Vectors (B, D) with their labels disturbed by Gaussian noise of levels (B, 1)."""
        shift = level * torch.randn(len(vector), vector.shape[1] - self.state_size, generator=noise)
        disturbed = torch.cat([vector[:, : self.state_size], vector[:, self.state_size :] + shift], 1)
        for at in self._cosines:
            angle = _TURN * shift[:, at - self.state_size]
            disturbed[:, at : at + 2] = _turned(vector[:, at : at + 2], angle.cos(), angle.sin())
        return disturbed

    def turn(self, vector: Tensor, noise: torch.Generator) -> Tensor:
        """Vectors (B, D) with all that stands in them turned about the centre by quarters of a circle, at random.

        What touches what is the same on each side of a square table. Where one side is not like the others this only
        makes more things plausible than are.
        """
        quarter = torch.randint(4, (len(vector),), generator=noise)
        cosine, sine = (torch.tensor(numbers)[quarter] for numbers in ([1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]))
        turned = vector.clone()
        for at in self._frames.directed:
            turned[:, at : at + 2] = _turned(vector[:, at : at + 2], cosine, sine)
        return turned

    def _moved(self, vector: Tensor, way: Tensor) -> Tensor:
        moved = torch.cat([vector[:, : self.state_size], vector[:, self.state_size :] + way], 1)
        for at in self._cosines:
            moved[:, at : at + 2] = F.normalize(moved[:, at : at + 2])
        return moved


def _turned(pair: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Places or directions (B, 2), turned by angles whose cosines and sines (B,) are given."""
    x, y = pair.unbind(1)
    return torch.stack([cosine * x - sine * y, sine * x + cosine * y], 1)


def plausibility_loss(plausibility: Plausibility, vectors: Tensor, noise: torch.Generator) -> Tensor:
    """Cross-entropy of telling the second half of vectors (B, D), disturbed, from the first, and of the way back."""
    real, origin = plausibility.turn(vectors, noise).chunk(2)
    blur, low, high = torch.full((len(real), 1), _BLUR), math.log(_LEAST), math.log(_MOST)
    level = torch.exp(low + (high - low) * torch.rand(len(origin), 1, generator=noise))
    disturbed = plausibility.disturb(origin, level, noise)
    way, logit = plausibility(torch.cat([plausibility.disturb(real, blur, noise), disturbed]))
    is_real = (torch.arange(len(vectors)) < len(real)).float()
    true_way = (origin - disturbed)[:, origin.shape[1] - way.shape[1] :]
    error = F.smooth_l1_loss(way[len(real) :], true_way, beta=0.01, reduction="none")
    return F.binary_cross_entropy_with_logits(logit, is_real) + (error / (level + 0.01)).mean()
