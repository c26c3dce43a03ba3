"""How far what a world shows may be believed."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from .autoencoder import Autoencoder
from .optimisation import autocast

#: A latent is judged by its worst cells: one melted corner of a block is a few cells of a whole image.
_NUM_WORST_CELLS = 8
#: Doubt fades: what was doubted this many steps ago counts a third.
MEMORY = 32
#: A number is wrong when it is off by more than this share of half its range: on PushT 13 units or 3 degrees.
TOLERANCE = 0.05
#: Actions read back from some steps tell more than from one: real video does not show at once where a command leaps to.
_STEPS_READ = 16
#: What is read better than to this share of half its range is not asked for more.
_LEGIBLE = 0.01
#: Slips tell nothing where a world that ignores its actions slips by less than so many times the most in real video.
_TELLING = 1.5


class Trust(nn.Module):
    """Trust in [0, 1] in how a frame is drawn, in that things moved as they would in reality, and as they were told.

    All are calibrated on held-out reality. They are apart because they fail apart: a shape can melt where it ought to
    be, and a whole shape can stand where nothing would have pushed it, or where nobody sent it.

    Args:
        num_actions: numbers in an action, 0 where nothing reads actions back.
    """

    usual: Tensor
    limit: Tensor
    middle: Tensor
    steepness: Tensor
    usual_misreading: Tensor
    most_slip: Tensor
    ignorant_slip: Tensor

    def __init__(self, num_actions: int = 0) -> None:
        super().__init__()
        self._num_actions = num_actions
        self.register_buffer("usual", torch.tensor(0.0))
        self.register_buffer("limit", torch.tensor(1.0))
        if num_actions:
            self.register_buffer("usual_misreading", torch.ones(num_actions))
            self.register_buffer("most_slip", torch.tensor(1.0))
            self.register_buffer("ignorant_slip", torch.tensor(1.0))
        # No doubt is enough to doubt a world that was never compared with reality.
        self.register_buffer("middle", torch.tensor(1e3))
        self.register_buffer("steepness", torch.tensor(1.0))

    def in_drawing(self, error: Tensor) -> Tensor:
        """Of cycle errors (B,): 1 up to the limit that held-out predictions rarely pass, then falling off.

        It has halved once the error is past the limit by 0.7 times the distance from the usual error to it.
        """
        return torch.exp(-((error - self.limit) / (self.limit - self.usual).clamp_min(1e-6)).clamp_min(0))

    def in_motion(self, doubt: Tensor) -> Tensor:
        """Of doubts (B,): the probability that the last `MEMORY` steps were right within `TOLERANCE`."""
        return torch.sigmoid(self.steepness * (self.middle - doubt.clamp_min(1e-9).log()))

    def misread(self, read: Tensor, told: Tensor) -> Tensor:
        """(B,) how far actions read back (B, A) are from those told (B, A), 1 being usual in real video."""
        return ((read - told).abs() / self.usual_misreading).mean(1)

    def in_following(self, slip: Tensor) -> Tensor:
        """Of slips (B,), see `more_slip`: 1 up to what real video rarely shows, 0 where actions might be any others.

        It falls with the logarithm, as slips are multiples of what is usual. 1 for all where nothing reads actions
        back, or where they cannot be told from others in real video either.
        """
        if not self._num_actions:
            return torch.ones_like(slip)
        ratio = self.ignorant_slip / self.most_slip
        trust = (self.ignorant_slip / slip.clamp_min(self.most_slip)).log().clamp_min(0) / ratio.log()
        return torch.where(ratio > _TELLING, trust, torch.ones_like(slip))

    def learn_drawing(self, errors: np.ndarray) -> None:
        """Set the bounds from cycle errors (N,) of held-out predictions: their median and 99th percentile."""
        self.usual.fill_(float(np.quantile(errors, 0.5)))
        self.limit.fill_(float(np.quantile(errors, 0.99)))

    def learn_following(self, read: Tensor, told: Tensor, begins: np.ndarray) -> None:
        """Set the bounds from actions read back (R, A) from held-out real video and those told (R, A).

        Trust is whole up to the 99th percentile of slips, and none at the mean misreading had other rows' actions been
        told.

        Args:
            begins: (R,) whether an episode begins with that row.
        """
        self.usual_misreading.copy_((read - told).abs().mean(0).clamp_min(_LEGIBLE))
        slip, slips = torch.tensor(1.0), []
        for misread, first in zip(self.misread(read, told), begins, strict=True):
            slip = more_slip(torch.ones_like(slip) if first else slip, misread)
            slips.append(float(slip))
        self.most_slip.fill_(max(1.0, float(np.quantile(slips, 0.99))))
        self.ignorant_slip.copy_(self.misread(read, told.roll(len(told) // 2, 0)).mean())

    def learn_motion(self, doubt: np.ndarray, right: np.ndarray) -> None:
        """Fit the probability by logistic regression on the logarithm of doubts (N,), given which were right (N,).

        As if one more had been right without any doubt and one wrong with four times the greatest, so that there is
        an answer where all were right.
        """
        logs = np.log(np.maximum(doubt, 1e-9))
        logs = np.concatenate([logs, [logs.min(), logs.max() + np.log(4)]])
        truth = np.concatenate([right.astype(np.float64), [1.0, 0.0]])
        design = np.stack([np.ones_like(logs), logs], 1)
        weight = np.zeros(2)
        for _ in range(50):  # Newton's method
            chance = 1 / (1 + np.exp(-(design @ weight)))
            slope = design.T @ (truth - chance) - 1e-3 * weight
            curve = (design.T * (chance * (1 - chance))) @ design + 1e-3 * np.eye(2)
            weight += np.linalg.solve(curve, slope)
        steepness = max(-weight[1], 1e-3)
        self.steepness.fill_(steepness)
        self.middle.fill_(weight[0] / steepness)


def cycle_error(autoencoder: Autoencoder, latents: Tensor, decoded: Tensor) -> Tensor:
    """(B,) how far each latent is from what the encoder makes of the frame decoded from it.

    Latents of real frames are near fixed points of encoder after decoder; melted shapes and ghosts are not.

    Args:
        latents: (B, C, H, W).
        decoded: (B, 3V, H, W), the frames decoded from them.
    """
    with autocast():
        again = autoencoder.encode(decoded.clamp(0, 1))
    cells = (again - latents).square().mean(1).flatten(1)
    worst: Tensor = cells.topk(min(_NUM_WORST_CELLS, cells.shape[1]), dim=1).values.mean(1).sqrt()
    return worst


def more_slip(slip: Tensor, misread: Tensor) -> Tensor:
    """Slip (B,), how far actions were misread of late, after a step that adds a misreading (B,); 1 at the start."""
    return slip + (misread - slip) / _STEPS_READ


def more_doubt(doubt: Tensor, new: Tensor) -> Tensor:
    """Doubt (B,) after a step that adds new doubt (B,)."""
    return (1 - 1 / MEMORY) * doubt + new
