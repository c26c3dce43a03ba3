"""The next state and labels from the last ones and the actions: what a frame is about, in a handful of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .body_frames import BodyFrames
from .layers import by_row

#: A number whose gate stays below this is copied exactly, so that what nothing touches cannot creep.
_CLOSED = 0.15
#: Changes of one step are small beside the numbers themselves.
_STEP_SCALE = 8.0
_NUM_PROJECTIONS = 24
_NUM_WAVES = 64
_NUM_FACTORS = 8


class VectorDynamics(nn.Module):
    """An MLP that predicts the change of a vector, with a gate for each number.

    It sees few projections of the numbers and of all their products, and everything from each body whose pose stands
    in the vector, on which contact depends most.

    Args:
        names: of the vector's numbers; see `BodyFrames` for what they tell.
        action_size: numbers in an action.
        width: of the hidden layers.
    """

    def __init__(self, names: Sequence[str], action_size: int, width: int) -> None:
        super().__init__()
        size = len(names)
        self._shared = min(size, action_size)
        self._frames = BodyFrames(names, action_size)
        self.project = nn.Linear(second_order_size(2 * size + 2 * action_size), _NUM_PROJECTIONS)
        num_seen = _NUM_PROJECTIONS + self._frames.size
        self.wave = nn.Linear(num_seen, _NUM_WAVES)
        nn.init.normal_(self.wave.weight, std=3.0 / num_seen**0.5)
        self.input = nn.Linear(num_seen + _NUM_WAVES, width)
        self.hidden = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))
        self.factors = nn.Linear(width, _NUM_FACTORS)
        self.change = nn.Linear(_NUM_FACTORS * (1 + size), size)
        nn.init.normal_(self.change.weight, std=0.01)
        self.gate = nn.Linear(width, size)
        nn.init.ones_(self.gate.bias)

    def forward(self, history: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Predict one step.

        Args:
            history: (B, 2, D) vectors, the present one last.
            actions: (B, 2, A) scaled; the last is commanded now.

        Returns:
            The change (B, D), turned back from the body's frame by products with the vector, and the gates' logits.
        """
        present, action = history[:, -1], actions[:, -1]
        # Where the action is a place, as often, its distance from the state says more than itself.
        ahead = torch.cat([action[:, : self._shared] - present[:, : self._shared], action[:, self._shared :]], 1)
        moved, turned = _STEP_SCALE * (present - history[:, 0]), action - actions[:, 0]
        seen = second_order(torch.cat([2 * present, moved, 2 * ahead, 2 * turned], 1))
        from_bodies = self._frames(present, history[:, 0], ahead, turned)
        factors, gate = by_row(self._read, torch.cat([seen, from_bodies], 1)).split([_NUM_FACTORS, present.shape[1]], 1)
        frame = torch.cat([torch.ones_like(present[:, :1]), present], 1)
        products = factors[:, :, None] * frame[:, None]
        return by_row(self.change, products.flatten(1)), gate

    def _read(self, seen: Tensor) -> Tensor:
        """Second-order features and what bodies see (B, F) -> factors of the change, and the gates' logits."""
        products, from_bodies = seen.tensor_split([self.project.in_features], 1)
        x = torch.cat([self.project(products), from_bodies], 1)
        x = self.input(torch.cat([x, torch.sin(self.wave(x))], 1))
        for layer, norm in zip(self.hidden, self.norms[:-1], strict=True):
            x = x + layer(F.silu(norm(x)))
        x = F.silu(self.norms[-1](x))
        return torch.cat([self.factors(x), self.gate(x)], 1)


class VectorReader(nn.Module):
    """(B, D) vectors -> (B, num_outputs) numbers that follow from them."""

    def __init__(self, size: int, num_outputs: int, width: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(second_order_size(size), width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(),
            nn.Linear(width, width), nn.SiLU(), nn.Linear(width, num_outputs),
        )  # fmt: skip

    def forward(self, vector: Tensor) -> Tensor:
        """Read."""
        out: Tensor = self.net(second_order(2 * vector))
        return out


def keep_on_circles(vector: Tensor, before: Tensor, cosines: list[int]) -> Tensor:
    """Vectors (B, D) with each cosine and the sine after it brought back to length 1, where they have changed.

    Args:
        before: (B, D) the vectors they came from.
        cosines: where cosines stand.
    """
    kept = vector.clone()
    for at in cosines:
        pair = vector[:, at : at + 2]
        changed = (pair != before[:, at : at + 2]).any(1, keepdim=True)
        kept[:, at : at + 2] = torch.where(changed, F.normalize(pair), pair)
    return kept


def second_order(x: Tensor) -> Tensor:
    """(B, D) -> (B, D + D (D + 1) / 2): the numbers and all their products."""
    rows, columns = torch.triu_indices(x.shape[1], x.shape[1])
    return torch.cat([x, x[:, rows] * x[:, columns]], 1)


def second_order_size(size: int) -> int:
    """Length of what `second_order` makes of `size` numbers."""
    return size + size * (size + 1) // 2


def advance_vector(vector: Tensor, change: Tensor, gate_logits: Tensor, exact: bool = True) -> Tensor:
    """The next vector; with `exact`, numbers whose gate is all but closed stay what they are to the bit."""
    gate = torch.sigmoid(gate_logits)
    if exact:
        gate = torch.where(gate < _CLOSED, 0.0, gate)
    return vector + gate * change
