"""Seeds of episodes: a function of the run's seed and the episode's index, and of nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np


def episode_seed(run_seed: int, index: int) -> int:
    """The seed of episode `index`, the same whatever the number of workers, the batch size or the order.

    63 bits of SeedSequence(run_seed, spawn_key=(index,)).
    """
    words = np.random.SeedSequence(run_seed, spawn_key=(index,)).generate_state(1, np.uint64)
    return int(words[0] >> np.uint64(1))


def episode_id(plan: Mapping[str, Any], index: int) -> str:
    """A name that two episodes share only if they were made from the same plan with the same index."""
    digest = hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:12]
    return f"{digest}-{index:06d}"
