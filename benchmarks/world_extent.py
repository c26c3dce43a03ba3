"""How much of a learned PushT world is measured."""

from __future__ import annotations

from dataclasses import dataclass

from world_trials import STEPS


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Args:
        num_seeds: episodes under random play and idle, in reality, and held out.
        num_expert_seeds: episodes with the expert in the loop, for which every frame is drawn.
        num_steps: of each.
        marks: steps at which survival is reported.
        fidelity: steps at which physics is put where the world is, for a row of each.
        trust: steps at which the same is done to see what trust knows.
    """

    num_seeds: int = 64
    num_expert_seeds: int = 16
    num_steps: int = 9000
    marks: tuple[int, ...] = (100, 1000, 3000, 9000)
    fidelity: tuple[int, ...] = (1000, 3000, 9000 - STEPS)
    trust: tuple[int, ...] = (200, 500, 2000, 4000, 5000, 6000, 7000, 8000)

    @property
    def moments(self) -> tuple[int, ...]:
        """Of all trials, in order."""
        return tuple(sorted({*self.fidelity, *self.trust}))


FULL = Extent()
QUICK = Extent(8, 2, 300, (100, 300), (100,), (50, 200))
