"""The next state and labels from the last ones and the actions: what a frame is about, in a handful of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .body_frames import BodyFrames
from .layers import Linear
from .members import MemberLinear, MemberNorm

#: A number is copied exactly unless it more likely changes, so that what nothing moves cannot creep. At 0.15 blocks
#: that rested against the agent crept 12 units in 3,000 steps, at 0.5 they stayed, with no more error when pushed.
_CLOSED = 0.5
#: Changes of one step are small beside the numbers themselves.
_STEP_SCALE = 8.0
_NUM_PROJECTIONS = 24
_NUM_WAVES = 64
_NUM_FACTORS = 8


class VectorDynamics(nn.Module):
    """MLPs that predict the change of a vector, with a gate for each number; several, of which the mean is taken.

    Each sees few projections of the numbers and of all their products, and everything from each body whose pose
    stands in the vector, on which contact depends most. Members begin from other weights and learn from other draws
    of the data: where they disagree the data does not say what happens (Lakshminarayanan et al., arXiv 1612.01474).

    Args:
        names: of the vector's numbers; see `BodyFrames` for what they tell.
        action_size: numbers in an action.
        width: of the hidden layers.
        num_members: how many MLPs.
    """

    def __init__(self, names: Sequence[str], action_size: int, width: int, num_members: int) -> None:
        super().__init__()
        size, members = len(names), num_members
        self.num_members = members
        self._shared = min(size, action_size)
        self._frames = BodyFrames(names, action_size)
        self.project = MemberLinear(members, second_order_size(2 * size + 2 * action_size), _NUM_PROJECTIONS)
        num_seen = _NUM_PROJECTIONS + self._frames.size
        self.wave = MemberLinear(members, num_seen, _NUM_WAVES)
        nn.init.normal_(self.wave.weight, std=3.0 / num_seen**0.5)
        self.input = MemberLinear(members, num_seen + _NUM_WAVES, width)
        self.hidden = nn.ModuleList(MemberLinear(members, width, width) for _ in range(3))
        self.norms = nn.ModuleList(MemberNorm(members, width) for _ in range(4))
        self.factors = MemberLinear(members, width, _NUM_FACTORS)
        self.change = MemberLinear(members, _NUM_FACTORS * (1 + size), size)
        nn.init.normal_(self.change.weight, std=0.01)
        self.gate = MemberLinear(members, width, size)
        nn.init.ones_(self.gate.bias)

    def forward(self, history: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Predict one step.

        Args:
            history: (M, B, 2, D) what each member goes on from, the present vector last.
            actions: (M, B, 2, A) scaled; the last is commanded now.

        Returns:
            The change (M, B, D), turned back from the body's frame by products with the vector, and the gates' logits.
        """
        present, action = history[:, :, -1], actions[:, :, -1]
        # Where the action is a place, as often, its distance from the state says more than itself.
        relative = action[..., : self._shared] - present[..., : self._shared]
        ahead = torch.cat([relative, action[..., self._shared :]], -1)
        moved, turned = _STEP_SCALE * (present - history[:, :, 0]), action - actions[:, :, 0]
        seen = second_order(torch.cat([2 * present, moved, 2 * ahead, 2 * turned], -1))
        from_bodies = self._frames(present, history[:, :, 0], ahead, turned)
        x = self._read(seen, from_bodies)
        frame = torch.cat([torch.ones_like(present[..., :1]), present], -1)
        products = self.factors(x)[..., :, None] * frame[..., None, :]
        return self.change(products.flatten(-2)), self.gate(x)

    def _read(self, seen: Tensor, from_bodies: Tensor) -> Tensor:
        """Second-order features and what bodies see, each (M, B, F) -> hidden features (M, B, width)."""
        x = torch.cat([self.project(seen), from_bodies], -1)
        x = self.input(torch.cat([x, torch.sin(self.wave(x))], -1))
        for layer, norm in zip(self.hidden, self.norms[:-1], strict=True):
            x = x + layer(F.silu(norm(x)))
        return F.silu(self.norms[-1](x))

    def agree(self, history: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        """What the members make of one history, together.

        Args:
            history: (B, 2, D).
            actions: (B, 2, A).

        Returns:
            The mean change (B, D), exactly 0 where the gates are all but closed, and the standard deviation of the
            members' changes (B, D).
        """
        dtype, members = self.change.weight.dtype, self.num_members
        change, gate = self(
            history.to(dtype).expand(members, -1, -1, -1), actions.to(dtype).expand(members, -1, -1, -1)
        )
        opened = torch.sigmoid(gate)
        changes = opened * change
        mean = torch.where(opened.mean(0) < _CLOSED, 0.0, changes.mean(0))
        return mean.to(history.dtype), changes.std(0, correction=0).to(history.dtype)


class VectorReader(nn.Module):
    """(B, D) vectors -> (B, num_outputs) numbers that follow from them."""

    def __init__(self, size: int, num_outputs: int, width: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            Linear(second_order_size(size), width), nn.SiLU(), Linear(width, width), nn.SiLU(),
            Linear(width, width), nn.SiLU(), Linear(width, num_outputs),
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
    """(..., D) -> (..., D + D (D + 1) / 2): the numbers and all their products."""
    rows, columns = torch.triu_indices(x.shape[-1], x.shape[-1])
    return torch.cat([x, x[..., rows] * x[..., columns]], -1)


def second_order_size(size: int) -> int:
    """Length of what `second_order` makes of `size` numbers."""
    return size + size * (size + 1) // 2


def advance_vector(vector: Tensor, change: Tensor, gate_logits: Tensor) -> Tensor:
    """The next vectors (M, B, D) of each member, as it learns: gradients pass where the gate is all but closed too."""
    return vector + torch.sigmoid(gate_logits) * change
