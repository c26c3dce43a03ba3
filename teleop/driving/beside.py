"""Reality beside an imagined world: the same start and the same actions, to see where the two part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...generators.recording import IMAGES
from ...generators.stream import Observation
from ...generators.world import World
from ...storage.errors import ConfigError
from ...storage.spec import EpisodeSpec
from .journey import Passage


class Beside:
    """A reality that follows what is done in an imagined world.

    Args:
        reality: of one slot; its `reset` takes the labels of a start (see `PushTReality.reset`).
        state: (S,) float32, of the robot at the start.
        facts: what the imagined world knows of its start, by name (`label.name`).

    Raises:
        ConfigError: the labels that reality needs are not known of this start.
    """

    def __init__(self, reality: World, state: np.ndarray, facts: Mapping[str, float]) -> None:
        labels = start_labels(reality.episode_spec, facts)
        self._reality = reality
        self._options = {"start": {"observation.state": state[None], "labels": labels}}
        self._num_done = 0
        self._restart()

    def follow(self, passages: Sequence[Passage]) -> None:
        """Do what was done since the last call.

        Args:
            passages: all since the start; to be called after every step and every way back.
        """
        if len(passages) < self._num_done:
            self._restart()
        for passage in passages[self._num_done :]:
            self._look(self._reality.step(passage.action[None])[0])
        self._num_done = len(passages)

    def _restart(self) -> None:
        self._look(self._reality.reset(seed=[0], options=self._options)[0])
        self._num_done = 0

    def _look(self, observation: Observation) -> None:
        #: camera name -> (H, W, 3) uint8 RGB, of now.
        self.frames = {key.removeprefix(IMAGES): view[0] for key, view in observation.items() if key.startswith(IMAGES)}


def start_labels(spec: EpisodeSpec, facts: Mapping[str, float]) -> dict[str, np.ndarray]:
    """The labels (1, L) float32 of a start from what is known of it by name.

    Raises:
        ConfigError: some are not known, or the robot has none.
    """
    names = {label: [f"{label}.{name}" for name in vector.names] for label, vector in spec.labels.items()}
    missing = [name for of_label in names.values() for name in of_label if name not in facts]
    if missing or not names:
        what = f"{missing[0]} is not known of this start" if missing else "nothing is known of where things are"
        raise ConfigError(f"reality cannot be shown beside this world: {what}; choose another start or another world")
    return {label: np.array([[facts[name] for name in of_label]], np.float32) for label, of_label in names.items()}
