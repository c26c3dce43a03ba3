"""Another stream's actions with pushes in between; what is recorded is what puts them right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..generators.stream import Observation
from ..generators.world import action_bounds
from ..storage.errors import ConfigError
from ..storage.spec import EpisodeSpec
from .inner_stream import inner_stream


class Perturb:
    """Lets a stream drive, and pushes its actions aside for a few steps now and then.

    A policy that is learnt from flawless demonstrations never sees what to do after a mistake of its own. Here it does:
    the stream sees where a push has brought it, and its own action there is what is recorded (`Correcting`), not the
    disturbed one that the world was given. That is the method of Laskey et al. 2017 (DART: noise injection for robust
    imitation learning), with pushes that last instead of noise that differs at every step, since robots smooth that
    away. The stream may be an expert, a policy, or a `replay`, which goes back to its recorded path.

    Args:
        spec: of the world to drive.
        stream: `name` and `kwargs` of the stream to disturb.
        size: standard deviation of a push in each dimension, as a share of the action's range.
        every: mean number of steps from the end of a push to the next; each takes from half to one and a half times
            as many.
        steps: least and greatest length of a push.

    Raises:
        ConfigError: a number is out of its range, or the stream cannot be used.
        PluginError: there is no such stream.
    """

    def __init__(
        self,
        spec: EpisodeSpec,
        stream: Mapping[str, Any],
        size: float = 0.1,
        every: int = 40,
        steps: Sequence[int] = (2, 5),
    ) -> None:
        if not 0 < size <= 1:
            raise ConfigError(f"size of perturb is a share of the action's range, above 0 and at most 1, got {size}")
        if every < 1:
            raise ConfigError(f"every of perturb must be at least 1 step, got {every}")
        if len(steps) != 2 or not 1 <= steps[0] <= steps[1]:
            raise ConfigError(f"steps of perturb must be (least, greatest), at least 1 step, got {tuple(steps)}")
        self._stream = inner_stream("perturb", "the stream", stream, spec)
        self._low, self._high = action_bounds(spec)
        self._size, self._every, self._steps = size, every, steps
        self._pushes: list[Iterator[np.ndarray]] = []
        self._corrective: np.ndarray = np.zeros((0, spec.action.size), np.float32)

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """See ActionStream.reset; the stream gets the same seeds."""
        self._stream.reset(seeds, mask)
        if len(self._pushes) != len(mask):
            self._pushes = [iter(()) for _ in mask]
        for slot in np.flatnonzero(mask):
            # A branch of its own, as the stream draws from the seed itself.
            self._pushes[slot] = self._pushed(
                np.random.default_rng(np.random.SeedSequence(seeds[slot], spawn_key=(1,)))
            )

    def act(self, observation: Observation) -> np.ndarray:
        """See ActionStream.act."""
        self._corrective = np.array(self._stream.act(observation), np.float32)
        pushed = self._corrective + np.stack([next(push) for push in self._pushes])
        return np.clip(pushed, self._low, self._high).astype(np.float32)

    def corrective(self) -> np.ndarray:
        """See Correcting.corrective: what the stream itself did."""
        return self._corrective.copy()

    def finished(self) -> np.ndarray:
        """See ActionStream.finished: where the stream is."""
        return self._stream.finished()

    def _pushed(self, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """What is added to the action (A,) of each step, for ever."""
        span = self._high.astype(np.float64) - self._low
        while True:
            for _ in range(max(1, round(self._every * rng.uniform(0.5, 1.5)))):
                yield np.zeros_like(span)
            push = rng.normal(size=len(span)) * self._size * span
            for _ in range(int(rng.integers(self._steps[0], self._steps[1] + 1))):
                yield push
