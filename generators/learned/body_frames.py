"""What a vector and its actions look like from each body whose pose stands in it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import Tensor

#: Numbers of these names, in a row, are the pose of a planar body.
POSE_NAMES = ("x", "y", "cos", "sin")
#: In the units of the vector, whose bounds are 1 from its centre: contact is a matter of hundredths.
_PLACE, _MOTION, _COMMAND = 4.0, 8.0, 2.0


class BodyFrames:
    """Places, motions and commands seen from each planar body.

    How a thing moves when it is pushed does not depend on where it stands and how it is turned. An MLP that is given
    this learns contact from a tenth of the data: in a world of 30,000 PushT frames the median error of the pose after
    64 steps went from 53 to 3.4 units of 512.

    Args:
        names: of the vector's numbers. `x`, `y`, `cos`, `sin` in a row are a body's pose; every other two in a row
            (but a cosine and its sine) are taken for a place.
        num_actions: numbers in an action; pairs of them are taken for places to go to.
    """

    def __init__(self, names: Sequence[str], num_actions: int) -> None:
        self.bodies = [at for at in range(len(names) - 3) if tuple(names[at : at + 4]) == POSE_NAMES]
        """Where the poses of bodies begin."""
        self._places = sorted([*self.bodies, *_pairs(names, self.bodies)])
        self.directed = [*self._places, *cosines_in(names)]
        """Where the first of two numbers stands that turn when all is turned."""
        self._num_commands = num_actions // 2
        others = len(self._places) - 1
        self.size = len(self.bodies) * (2 * (others + len(self._places) + 2 * self._num_commands) + 1)

    def __call__(self, present: Tensor, before: Tensor, ahead: Tensor, turned: Tensor) -> Tensor:
        """Everything from the place and the direction of each body.

        Args:
            present, before: (..., D) vectors.
            ahead: (..., A) the action, as far as it is a place relative to that of the state.
            turned: (..., A) how the action differs from the last one.

        Returns:
            (..., size), nothing of it where no body's pose stands in the vector.
        """
        seen = [self._from_body(at, present, before, ahead, turned) for at in self.bodies]
        return torch.cat(seen, -1) if seen else present[..., :0]

    def _from_body(self, at: int, present: Tensor, before: Tensor, ahead: Tensor, turned: Tensor) -> Tensor:
        places = _gather(present, self._places)
        others = [number for number, place in enumerate(self._places) if place != at]
        commands = range(0, 2 * self._num_commands, 2)
        vectors = torch.cat(
            [
                _PLACE * (places[..., others, :] - present[..., None, at : at + 2]),
                _MOTION * (places - _gather(before, self._places)),
                _COMMAND * _gather(ahead, commands),
                _COMMAND * _gather(turned, commands),
            ],
            -2,
        )
        cosine, sine = present[..., at + 2, None], present[..., at + 3, None]
        right, down = vectors.unbind(-1)
        spin = present[..., at + 2] * before[..., at + 3] - present[..., at + 3] * before[..., at + 2]
        return torch.cat([cosine * right + sine * down, cosine * down - sine * right, _MOTION * spin[..., None]], -1)


def cosines_in(names: Sequence[str]) -> list[int]:
    """Where cosines stand that their sines follow."""
    return [at for at, pair in enumerate(itertools.pairwise(names)) if pair == POSE_NAMES[2:]]


def _pairs(names: Sequence[str], bodies: Sequence[int]) -> list[int]:
    """Where two numbers in a row stand that are no part of a body's pose nor a cosine and its sine."""
    taken = {at + offset for at in bodies for offset in range(4)}
    taken |= {at + offset for at in cosines_in(names) for offset in (0, 1)}
    found, at = [], 0
    while at + 1 < len(names):
        if at in taken or at + 1 in taken:
            at += 1
        else:
            found.append(at)
            at += 2
    return found


def _gather(numbers: Tensor, pairs: Sequence[int]) -> Tensor:
    """(..., D) -> (..., P, 2)."""
    if not len(pairs):
        return numbers.new_zeros(*numbers.shape[:-1], 0, 2)
    return torch.stack([numbers[..., at : at + 2] for at in pairs], -2)
