"""Several streams taking turns in each slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..generators.stream import ActionStream, Observation
from ..storage.errors import ConfigError
from ..storage.plugins import PluginRef
from ..storage.spec import EpisodeSpec


@dataclass(frozen=True)
class Part:
    """One stream of a mix, as plain data.

    Args:
        name: the stream's name among the installed ones.
        weight: how often it is drawn, relative to the other parts.
        kwargs: the stream's keyword arguments.
        steps: mean length of its turns; 0 stands for the mix's `switch_every`.
    """

    name: str
    weight: float = 1.0
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    steps: int = 0

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise ConfigError(f"weight of part {self.name!r} of a mix must be above 0, got {self.weight}")
        if self.steps < 0:
            raise ConfigError(f"steps of part {self.name!r} of a mix must not be negative, got {self.steps}")


class Mix:
    """Draws a part by weight, lets it act for a random number of steps, and draws again; each slot by itself.

    Args:
        spec: of the world to drive.
        parts: fields of `Part`, as mappings.
        switch_every: mean number of steps of a turn; each takes from half to one and a half times as many.

    Raises:
        ConfigError: there are no parts, or a part or a number cannot be used.
        PluginError: no stream of a part's name is installed.
    """

    def __init__(self, spec: EpisodeSpec, parts: Sequence[Mapping[str, Any]], switch_every: int = 40) -> None:
        if switch_every < 1:
            raise ConfigError(f"switch_every of a mix must be at least 1 step, got {switch_every}")
        self._parts = [_part(fields) for fields in parts]
        if not self._parts:
            raise ConfigError("a mix needs at least one part, got none")
        weights = np.array([part.weight for part in self._parts], np.float64)
        self._shares = weights / weights.sum()
        self._mean_steps = [part.steps or switch_every for part in self._parts]
        self._streams: list[ActionStream] = [
            PluginRef("streams", part.name, part.kwargs).build(spec=spec) for part in self._parts
        ]
        self._rngs: list[np.random.Generator] = []
        self._acting = self._steps_left = np.zeros(0, int)

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """See ActionStream.reset."""
        if len(self._rngs) != len(mask):
            self._rngs = [np.random.default_rng(seed) for seed in seeds]
            self._acting, self._steps_left = np.zeros(len(mask), int), np.zeros(len(mask), int)
            for stream in self._streams:
                stream.reset(seeds, np.ones(len(mask), bool))
        for slot in np.flatnonzero(mask):
            self._rngs[slot] = np.random.default_rng(seeds[slot])
            self._steps_left[slot] = 0

    def act(self, observation: Observation) -> np.ndarray:
        """See ActionStream.act."""
        self._begin_turns()
        self._steps_left -= 1
        parts = np.unique(self._acting)
        proposed = np.stack([self._streams[part].act(observation) for part in parts])
        chosen: np.ndarray = proposed[np.searchsorted(parts, self._acting), np.arange(len(self._acting))]
        return chosen

    def finished(self) -> np.ndarray:
        """Never: another part takes over."""
        return np.zeros(len(self._rngs), bool)

    def _begin_turns(self) -> None:
        """Draw a part for each slot whose turn is over, and start that part there with a seed of its own."""
        given_up = np.stack([stream.finished() for stream in self._streams])
        over = (self._steps_left <= 0) | given_up[self._acting, np.arange(len(self._acting))]
        seeds = [0] * len(over)
        for slot in np.flatnonzero(over):
            rng = self._rngs[slot]
            part = int(rng.choice(len(self._parts), p=self._shares))
            self._acting[slot] = part
            self._steps_left[slot] = max(1, round(self._mean_steps[part] * rng.uniform(0.5, 1.5)))
            seeds[slot] = int(rng.integers(2**62))
        for part, stream in enumerate(self._streams):
            if (begins := over & (self._acting == part)).any():
                stream.reset(seeds, begins)


def _part(fields: Mapping[str, Any]) -> Part:
    try:
        return Part(**fields)
    except TypeError as error:
        raise ConfigError(
            f"a part of a mix has a name and may have weight, kwargs and steps, got {dict(fields)}"
        ) from error
