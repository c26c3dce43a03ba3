"""How many frames a second a fleet makes, from what the parts of a worker cost (docs/fleet.md, "Past one machine")."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

#: Episodes that may wait for a worker's writer (`generators/fleet/writer.py`).
QUEUE = 2


@dataclass(frozen=True)
class Costs:
    """What a worker spends on one step of all its slots.

    Args:
        num_slots: episodes stepped together.
        step_s: seconds that the world takes for them.
        core_s: seconds of a core for the stream and the rollout loop.
        store_s: seconds of a core, or of a slow disk, to store one frame.
        has_device: whether the world works on a device of its own, so that the core can store meanwhile.
        fill: share of the slots that hold an episode, over a whole run.

    Raises:
        ValueError: a number cannot be.
    """

    num_slots: int
    step_s: float
    core_s: float
    store_s: float
    has_device: bool = False
    fill: float = 1.0

    def __post_init__(self) -> None:
        if self.num_slots < 1 or min(self.step_s, self.core_s, self.store_s) < 0 or not 0 < self.fill <= 1:
            raise ValueError(f"costs must be positive and fill a share, got {self}")

    @property
    def frames(self) -> float:
        """Frames that a step gives."""
        return self.num_slots * self.fill

    @property
    def seconds(self) -> float:
        """Of a step with all that belongs to it: storing goes on beside a device, and after one on the same core."""
        storing = self.frames * self.store_s
        if self.has_device:
            return self.core_s + max(self.step_s, storing)
        return self.core_s + self.step_s + storing


@dataclass(frozen=True)
class Limits:
    """What all workers share; infinite where it is not known to bound anything.

    Args:
        episodes_per_s: that the driver can hand out and take in.
        bytes_per_s: that the file system of the store takes.
        cores: for what workers do on cores.
    """

    episodes_per_s: float = math.inf
    bytes_per_s: float = math.inf
    cores: float = math.inf


def frames_per_s(
    costs: Costs,
    num_workers: int,
    limits: Limits | None = None,
    frames_per_episode: float = 100.0,
    bytes_per_frame: float = 0.0,
) -> float:
    """Frames a second of so many workers: their own pace, or the least of what they share."""
    shared = limits or Limits()
    busy_s = costs.core_s + costs.frames * costs.store_s + (0.0 if costs.has_device else costs.step_s)
    bounds = [
        num_workers * costs.frames / costs.seconds,
        shared.episodes_per_s * frames_per_episode,
        shared.bytes_per_s / bytes_per_frame if bytes_per_frame else math.inf,
        shared.cores * costs.frames / busy_s if busy_s else math.inf,
    ]
    return min(bounds)


def num_batch_steps(lengths: Sequence[int], num_slots: int) -> int:
    """Steps of all slots that episodes of these lengths take, each free slot taking the next; the last ones run out."""
    slots = [0] * num_slots
    for length in lengths:
        heapq.heapreplace(slots, slots[0] + length)
    return max(slots)


def fill(parts: Sequence[Sequence[int]], num_slots: int) -> float:
    """Share of the slots that hold an episode, over what each worker makes (lengths of its episodes)."""
    steps = sum(num_batch_steps(lengths, num_slots) for lengths in parts)
    return sum(map(sum, parts)) / (num_slots * steps)


def seconds_beside_store(lengths: Sequence[int], num_slots: int, step_s: float, episode_s: float) -> float:
    """Of a worker whose store takes `episode_s` for an episode, beside its steps: two may wait, then the world waits.

    Episodes that end together fill that queue, so that this is more than the longer of the two.
    """
    left = deque(lengths)
    slots: list[int] = [left.popleft() for _ in range(min(num_slots, len(left)))]
    waiting: deque[float] = deque()  # when each will be stored
    now = stored = 0.0
    while slots:
        now += step_s * (steps := min(slots))
        going = [length - steps for length in slots]
        for _ in range(going.count(0)):
            while len(waiting) >= QUEUE:
                now = max(now, waiting.popleft())
            stored = max(now, stored) + episode_s
            waiting.append(stored)
        slots = [length for length in going if length]
        slots += [left.popleft() for _ in range(min(num_slots - len(slots), len(left)))]
    return max(now, stored)
