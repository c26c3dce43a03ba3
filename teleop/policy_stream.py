"""A trained policy as a stream: it drives a world as it would drive the robot."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..generators.stream import Observation
from ..storage.errors import ConfigError
from ..storage.spec import EpisodeSpec

if TYPE_CHECKING:
    from .policy_checkpoint import PolicyCheckpoint

#: Rows computed together. Always as many, so that rounding does not depend on how many slots ask at once.
ROWS = 8


class PolicyStream:
    """Plays a LeRobot policy folder; each slot keeps its own observations, plan and noise.

    Args:
        spec: of the world it is to drive.
        policy: a LeRobot `pretrained_model` folder.
        num_action_steps: actions executed before it looks again; the policy's own setting by default.

    Raises:
        CheckpointError: the folder is incomplete.
        SpecMismatch: the policy was trained for another robot.
        ConfigError: num_action_steps is more than the policy predicts.
    """

    def __init__(self, spec: EpisodeSpec, policy: str, num_action_steps: int | None = None) -> None:
        from .policy_checkpoint import check_fits, load_policy

        self._checkpoint: PolicyCheckpoint = load_policy(Path(policy))
        check_fits(Path(policy), self._checkpoint, spec)
        config = self._checkpoint.policy.config
        self._num_action_steps = num_action_steps or config.n_action_steps
        if not 1 <= self._num_action_steps <= config.n_action_steps:
            raise ConfigError(
                f"num_action_steps must lie between 1 and {config.n_action_steps}, which the policy in {policy} "
                f"was trained to execute, got {num_action_steps}"
            )
        self._keys = [*config.image_features, "observation.state"]
        self._slots: list[_Slot] = []

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """Forget observations and plan in the masked slots, and seed their noise."""
        if not self._slots:
            self._slots = [_Slot(self._checkpoint.num_observations) for _ in seeds]
        for slot, seed, starts in zip(self._slots, seeds, mask, strict=True):
            if starts:
                slot.restart(seed)

    def act(self, observation: Observation) -> np.ndarray:
        """The next action (N, A) float32 of each slot's plan, planning anew where a plan is used up."""
        for i, slot in enumerate(self._slots):
            slot.see({key: observation[key][i] for key in self._keys})
        waiting = [slot for slot in self._slots if not slot.plan]
        for first in range(0, len(waiting), ROWS):
            self._plan(waiting[first : first + ROWS])
        return np.stack([slot.plan.popleft() for slot in self._slots])

    def finished(self) -> np.ndarray:
        """(N,) bool, all false: a policy goes on for as long as it is let."""
        return np.zeros(len(self._slots), bool)

    def _plan(self, slots: list[_Slot]) -> None:
        rows = [*range(len(slots)), *[0] * (ROWS - len(slots))]
        seen = {key: np.stack([slots[row].history(key) for row in rows]) for key in self._keys}
        noise = self._noise(slots)
        chunks = self._checkpoint.plan(seen, None if noise is None else noise[rows])
        for slot, chunk in zip(slots, chunks, strict=False):
            slot.plan.extend(chunk[: self._num_action_steps])

    def _noise(self, slots: list[_Slot]) -> np.ndarray | None:
        shape = self._checkpoint.noise_shape
        return None if shape is None else np.stack([slot.noise(shape) for slot in slots])


class _Slot:
    """What one episode's policy remembers."""

    def __init__(self, num_observations: int) -> None:
        self.plan: deque[np.ndarray] = deque()
        self._seen: deque[dict[str, np.ndarray]] = deque(maxlen=num_observations)
        self._random = np.random.default_rng(0)

    def restart(self, seed: int) -> None:
        self.plan.clear()
        self._seen.clear()
        self._random = np.random.default_rng(seed)

    def see(self, observation: dict[str, np.ndarray]) -> None:
        """Remember it; the first fills the whole history, as in LeRobot."""
        self._seen.append(observation)
        while len(self._seen) < (self._seen.maxlen or 1):
            self._seen.append(observation)

    def history(self, key: str) -> np.ndarray:
        return np.stack([observation[key] for observation in self._seen])

    def noise(self, shape: tuple[int, int]) -> np.ndarray:
        return self._random.standard_normal(shape, np.float32)
