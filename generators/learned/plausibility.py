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
_LEAST, _MOST = 0.02, 0.3
#: Directions are disturbed by so many radians for each unit of a place.
_TURN = 3.0
#: A vector does not occur if its logit is below this, and below that of all but so many real ones.
_IMPLAUSIBLE, _REAL_SHARE = -2.0, 0.001
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

    limit: Tensor

    def __init__(self, names: Sequence[str], state_size: int, width: int) -> None:
        super().__init__()
        self.register_buffer("limit", torch.tensor(_IMPLAUSIBLE))
        self._start = state_size
        self._cosines = [at for at in cosines_in(names) if at >= state_size]
        self._frames = BodyFrames(names, 0)
        num_seen = second_order_size(len(names)) + self._frames.size
        self.wave = nn.Linear(num_seen, _NUM_WAVES)
        nn.init.normal_(self.wave.weight, std=3.0 / num_seen**0.5)
        self.input = nn.Linear(num_seen + _NUM_WAVES, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.output = nn.Linear(width, len(names) - state_size + 1)
        # Before it has learnt anything, everything is plausible.
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(self, vector: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (B, D) -> the way back to what occurs, of their labels (B, D - S), and logits (B,) that they do."""
        none = vector[:, :0]
        x = torch.cat([second_order(2 * vector), self._frames(vector, vector, none, none)], 1)
        x = self.input(torch.cat([x, torch.sin(self.wave(x))], 1))
        for layer, norm in zip(self.hidden, self.norms[:-1], strict=True):
            x = x + layer(F.silu(norm(x)))
        way, logit = self.output(F.silu(self.norms[-1](x))).split([vector.shape[1] - self._start, 1], 1)
        return way, logit[:, 0]

    def settle(self, vector: Tensor) -> Tensor:
        """Vectors (B, D), those that do not occur led back to where they do, the others as they are."""
        settled = vector.to(self.output.weight.dtype)
        for _ in range(_MOST_STEPS):
            way, logit = self(settled)
            astray = logit < self.limit
            if not astray.any():
                break
            settled = torch.where(astray[:, None], self._moved(settled, way), settled)
        return settled.to(vector.dtype)

    @torch.no_grad()
    def calibrate(self, real: Tensor) -> None:
        """Set the limit from real vectors (N, D) that it has not learnt from."""
        logits = torch.cat([self(part)[1] for part in real.split(4096)])
        self.limit.fill_(min(_IMPLAUSIBLE, float(logits.quantile(_REAL_SHARE))))

    def disturb(self, vector: Tensor, noise: torch.Generator) -> tuple[Tensor, Tensor]:
        """Vectors (B, D) with their labels disturbed, each at a level of its own; also the levels (B, 1)."""
        low, high = math.log(_LEAST), math.log(_MOST)
        level = torch.exp(low + (high - low) * torch.rand(len(vector), 1, generator=noise))
        shift = level * torch.randn(len(vector), vector.shape[1] - self._start, generator=noise)
        disturbed = torch.cat([vector[:, : self._start], vector[:, self._start :] + shift], 1)
        for at in self._cosines:
            angle = _TURN * shift[:, at - self._start]
            cosine, sine = vector[:, at], vector[:, at + 1]
            disturbed[:, at] = cosine * angle.cos() - sine * angle.sin()
            disturbed[:, at + 1] = sine * angle.cos() + cosine * angle.sin()
        return disturbed, level

    def _moved(self, vector: Tensor, way: Tensor) -> Tensor:
        moved = torch.cat([vector[:, : self._start], vector[:, self._start :] + way], 1)
        for at in self._cosines:
            moved[:, at : at + 2] = F.normalize(moved[:, at : at + 2])
        return moved


def plausibility_loss(plausibility: Plausibility, vectors: Tensor, noise: torch.Generator) -> Tensor:
    """Cross-entropy of telling the second half of vectors (B, D), disturbed, from the first, and of the way back."""
    real, origin = vectors.chunk(2)
    disturbed, level = plausibility.disturb(origin, noise)
    way, logit = plausibility(torch.cat([real, disturbed]))
    is_real = (torch.arange(len(vectors)) < len(real)).float()
    true_way = (origin - disturbed)[:, origin.shape[1] - way.shape[1] :]
    error = F.smooth_l1_loss(way[len(real) :], true_way, beta=0.01, reduction="none")
    return F.binary_cross_entropy_with_logits(logit, is_real) + (error / (level + 0.01)).mean()
