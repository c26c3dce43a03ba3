"""Which labels occur in reality, and the nearest that do."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .body_frames import BodyFrames, cosines_in
from .vector_dynamics import second_order, second_order_size

#: Standard deviations of disturbances, in the units of the labels, whose bounds are 1 from their centre.
_LEAST, _MOST = 0.01, 0.3
#: Real labels are disturbed by this, so that what is learnt is where they lie and not which ones were seen.
_BLUR = 0.005
#: Directions are disturbed by so many radians for each unit of a place.
_TURN = 3.0
#: Logit below which labels do not occur.
_IMPLAUSIBLE = -2.5
_MOST_STEPS = 4
_NUM_WAVES = 96


class Plausibility(nn.Module):
    """Which labels occur, by themselves and beside the robot's state.

    One network sees the labels alone and tells where a block would be in a wall. The other sees from each labelled
    body where everything else is, and tells where the robot would be in a block. Both see few numbers, which lie
    densely in the data. One network that sees all at once learns the data by heart before it is as sharp.

    Args:
        names: of the vector's numbers.
        state_size: how many of them, at the beginning, are the robot's.
        width: of the hidden layers.
    """

    def __init__(self, names: Sequence[str], state_size: int, width: int) -> None:
        super().__init__()
        self.state_size = state_size
        self.alone = PlausibilityNet(names[state_size:], 0, width, from_bodies=False)
        has_bodies = BodyFrames(names, 0).size > 0
        self.beside = PlausibilityNet(names, state_size, width, from_bodies=True) if has_bodies else None

    def settle(self, vector: Tensor) -> Tensor:
        """Vectors (B, D), labels that do not occur led back to where they do, the others as they are."""
        settled = vector if self.beside is None else self.beside.settle(vector)
        labels = self.alone.settle(settled[:, self.state_size :])
        return torch.cat([settled[:, : self.state_size], labels], 1)

    def forget(self) -> None:
        """Find everything plausible again, as before training."""
        self.alone.forget()
        if self.beside is not None:
            self.beside.forget()


class PlausibilityNet(nn.Module):
    """Tells numbers whose labels occur from such whose do not, and says the way from these to those.

    Things that cannot be in one place, a wall and a block, are never seen so in the data. A dynamics that is a mean of
    what may happen can put them there all the same, and goes on from where nothing real ever was. The best guess at
    undisturbed labels points up the density of the real ones (Alain and Bengio, arXiv 1211.4246), and is followed
    only from where there is none of it, so that what is plausible stays as it is to the bit.

    Args:
        names: of the numbers it sees.
        given: how many of them, at the beginning, are the robot's and stay as they are.
        width: of the hidden layers.
        from_bodies: see them only from the bodies whose pose stands among them, wherever these are.
    """

    def __init__(self, names: Sequence[str], given: int, width: int, from_bodies: bool) -> None:
        super().__init__()
        self.given, self._from_bodies = given, from_bodies
        self._cosines = [at for at in cosines_in(names) if at >= given]
        self._frames = BodyFrames(names, 0)
        num_seen = self._frames.size + (0 if from_bodies else second_order_size(len(names)))
        self.wave = nn.Linear(num_seen, _NUM_WAVES)
        nn.init.normal_(self.wave.weight, std=3.0 / num_seen**0.5)
        self.input = nn.Linear(num_seen + _NUM_WAVES, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.output = nn.Linear(width, len(names) - given + 1)
        self.forget()

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Numbers (B, D) -> the way back (B, L) of their labels to such as occur, and logits (B,) that they do."""
        x = self._features(seen)
        x = self.input(torch.cat([x, torch.sin(self.wave(x))], 1))
        for layer, norm in zip(self.hidden, self.norms[:-1], strict=True):
            x = x + layer(F.silu(norm(x)))
        way, logit = self.output(F.silu(self.norms[-1](x))).split([seen.shape[1] - self.given, 1], 1)
        return self._turned_back(way, seen) if self._from_bodies else way, logit[:, 0]

    def settle(self, seen: Tensor) -> Tensor:
        """Numbers (B, D), labels that do not occur led back to where they do, the others as they are."""
        settled = seen.to(self.output.weight.dtype)
        for _ in range(_MOST_STEPS):
            way, logit = self(settled)
            astray = logit < _IMPLAUSIBLE
            if not astray.any():
                break
            settled = torch.where(astray[:, None], self._moved(settled, way), settled)
        return settled.to(seen.dtype)

    @torch.no_grad()
    def forget(self) -> None:
        """Find everything plausible again, as before training."""
        self.output.weight.zero_()
        self.output.bias.zero_()

    def disturb(self, seen: Tensor, level: Tensor | float, noise: torch.Generator) -> Tensor:
        """Numbers (B, D) with their labels disturbed by Gaussian noise of levels (B, 1)."""
        shift = level * torch.randn(len(seen), seen.shape[1] - self.given, generator=noise)
        disturbed = torch.cat([seen[:, : self.given], seen[:, self.given :] + shift], 1)
        for at in self._cosines:
            angle = _TURN * shift[:, at - self.given]
            disturbed[:, at : at + 2] = _turned(seen[:, at : at + 2], angle.cos(), angle.sin())
        return disturbed

    def turn(self, seen: Tensor, noise: torch.Generator) -> Tensor:
        """Numbers (B, D) with all that stands in them turned about the centre by quarters of a circle, at random.

        What touches what is the same on each side of a square table. Where one side is not like the others this only
        makes more things plausible than are.
        """
        quarter = torch.randint(4, (len(seen),), generator=noise)
        cosine, sine = (torch.tensor(numbers)[quarter] for numbers in ([1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, -1.0]))
        turned = seen.clone()
        for at in self._frames.directed:
            turned[:, at : at + 2] = _turned(seen[:, at : at + 2], cosine, sine)
        return turned

    def _features(self, seen: Tensor) -> Tensor:
        none = seen[:, :0]
        from_bodies = self._frames(seen, seen, none, none)
        return from_bodies if self._from_bodies else torch.cat([second_order(2 * seen), from_bodies], 1)

    def _turned_back(self, way: Tensor, seen: Tensor) -> Tensor:
        """What was found from bodies that do not know how they are turned, as it is on the board."""
        turned = way.clone()
        for body in (body for body in self._frames.bodies if body >= self.given):
            for at in (body, body + 2):
                pair = way[:, at - self.given : at - self.given + 2]
                turned[:, at - self.given : at - self.given + 2] = _turned(pair, seen[:, body + 2], seen[:, body + 3])
        return turned

    def _moved(self, seen: Tensor, way: Tensor) -> Tensor:
        moved = torch.cat([seen[:, : self.given], seen[:, self.given :] + way], 1)
        for at in self._cosines:
            moved[:, at : at + 2] = F.normalize(moved[:, at : at + 2])
        return moved


def _turned(pair: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Places or directions (B, 2), turned by angles whose cosines and sines (B,) are given."""
    x, y = pair.unbind(1)
    return torch.stack([cosine * x - sine * y, sine * x + cosine * y], 1)


def plausibility_loss(
    net: PlausibilityNet, real: Tensor, origins: Tensor, drifted: Tensor, noise: torch.Generator
) -> Tensor:
    """Cross-entropy of telling what occurs from what does not, and of the way back where it is known.

    Args:
        real: (B, D) numbers that occur.
        origins: (N, D) more of them, whose labels are disturbed.
        drifted: (M, D) what a dynamics made by itself; most of it may well occur, and is then no evidence for either.
    """
    real, origins, drifted = (net.turn(seen, noise) for seen in (real, origins, drifted))
    low, high = math.log(_LEAST), math.log(_MOST)
    level = torch.exp(low + (high - low) * torch.rand(len(origins), 1, generator=noise))
    disturbed = net.disturb(origins, level, noise)
    shown = [net.disturb(real, _BLUR, noise), disturbed, net.disturb(drifted, _BLUR, noise)]
    way, logit = net(torch.cat(shown))
    is_real = (torch.arange(len(logit)) < len(real)).float()
    true_way = (origins - disturbed)[:, net.given :]
    error = F.smooth_l1_loss(way[len(real) : len(real) + len(origins)], true_way, beta=0.01, reduction="none")
    return F.binary_cross_entropy_with_logits(logit, is_real) + (error / (level + 0.01)).mean()
