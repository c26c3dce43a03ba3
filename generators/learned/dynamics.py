"""The next latent from the last ones and the actions."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .layers import ResBlock, coordinates

_CONDITION = 128
#: Cells whose gate stays below this are copied exactly, so that what nothing touches cannot creep.
_CLOSED = 0.15


class Dynamics(nn.Module):
    """A small U-Net that predicts the change of the latent, after section 5a of the recipe in docs/world-model.md.

    The actions enter through FiLM and, where they are a place in the image, as maps. A learned map tells the
    network where it is in the image, and so what always stands there. The noise level of the history is an input
    (GameNGen, arXiv 2408.14837): a history known to be noisy is pulled back to what frames look like.
    """

    grid: Tensor

    def __init__(
        self, channels: int, height: int, width: int, action_size: int, history: int, action_pixels: bool,
        features: int, num_blocks: int,
    ) -> None:  # fmt: skip
        super().__init__()
        self.action_pixels = action_pixels
        self.register_buffer("grid", coordinates(height, width), persistent=False)
        self.condition = nn.Sequential(
            nn.Linear(history * action_size + 1, _CONDITION),
            nn.SiLU(),
            nn.Linear(_CONDITION, _CONDITION),
            nn.SiLU(),
        )
        self.stem = nn.Conv2d(history * channels + (4 if action_pixels else 0), features, 3, padding=1)
        self.place = nn.Parameter(0.02 * torch.randn(features, height, width))
        self.before = ResBlock(features, _CONDITION)
        self.down = nn.Conv2d(4 * features, 2 * features, 1)
        self.middle = nn.ModuleList(ResBlock(2 * features, _CONDITION) for _ in range(num_blocks))
        self.up = nn.Conv2d(2 * features, 4 * features, 1)
        self.after = ResBlock(features, _CONDITION)
        self.head = nn.Conv2d(features, channels + 1, 3, padding=1)
        nn.init.zeros_(self.head.weight)

    def forward(self, history: Tensor, actions: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Predict one step.

        Args:
            history: (B, history, C, H, W) latents, the present one last.
            actions: (B, history, A) in [-1, 1]; the last is commanded now, the others led to the latents before.
            noise: (B,) standard deviation of the noise on the history.

        Returns:
            The change of the latent (B, C, H, W) and the gate's logits (B, 1, H, W), both float32.
        """
        condition = self.condition(torch.cat([actions.flatten(1), noise[:, None]], 1))
        inputs = [history.flatten(1, 2)]
        if self.action_pixels:
            inputs.append(self._action_maps(actions))
        x = self.stem(torch.cat(inputs, 1)) + self.place
        fine = self.before(x, condition)
        x = self.down(F.pixel_unshuffle(fine, 2))
        for block in self.middle:
            x = block(x, condition)
        x = self.after(fine + F.pixel_shuffle(self.up(x), 2), condition)
        out = self.head(F.silu(x)).float()
        return out[:, :-1], out[:, -1:]

    def _action_maps(self, actions: Tensor) -> Tensor:
        """(B, 4, H, W): how far each cell is from the target in x and y, and blobs at this and the last target."""
        offset = self.grid - actions[:, -1, :2, None, None]
        last = self.grid - actions[:, -2, :2, None, None]
        blob, last_blob = (torch.exp(-60 * d.square().sum(1, keepdim=True)) for d in (offset, last))
        return torch.cat([offset, blob, last_blob], 1)


def advance(latent: Tensor, delta: Tensor, gate_logits: Tensor, exact: bool = True) -> Tensor:
    """The next latent: the present one changed where the gate is open, and copied exactly where it is closed.

    Args:
        exact: copy exactly where the gate is all but closed; false in training, where gradients must pass.
    """
    gate = torch.sigmoid(gate_logits)
    if exact:
        gate = torch.where(gate < _CLOSED, 0.0, gate)
    return (latent + gate * delta).clamp(-1, 1)
