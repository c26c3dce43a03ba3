from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from demoloom.generators.learned.timeline import Timeline
from demoloom.generators.learned.vector_pool import VectorPool

#: One episode of 100 rows, of a state that is always 0 and a label that grows by a thousandth in each.
VECTORS = torch.stack([torch.zeros(100), torch.arange(100.0) / 1000], 1)
MODEL: Any = SimpleNamespace(spec=SimpleNamespace(state=SimpleNamespace(size=1), labels={"place": None}), cosines=[])


def pool_at(rows: list[int], fresh: int = 90) -> VectorPool:
    """One member's rollouts at rows; new ones begin at row `fresh`."""
    timeline = Timeline(np.array([0, 100]), np.array([0]))
    draws = iter([np.array([rows])])
    never: Any = SimpleNamespace(random=lambda shape: np.ones(shape))  # nothing starts anew by chance
    return VectorPool(MODEL, VECTORS, timeline, lambda: next(draws, np.full((1, len(rows)), fresh)), never)


def test_rollouts_go_on_from_what_was_predicted() -> None:
    pool = pool_at([10, 20])
    predicted = VECTORS[torch.tensor([[17, 18], [27, 28]])][None] + 0.01
    pool.go_on(predicted, 8)
    assert pool.rows.tolist() == [[18, 28]]
    assert torch.equal(pool.history, predicted)


def test_one_that_strayed_and_one_whose_episode_ends_start_anew() -> None:
    pool = pool_at([10, 88])
    predicted = VECTORS[torch.tensor([[17, 18], [95, 96]])][None] + torch.tensor([0.06, 0.0])[None, :, None, None]
    # The label is 0.06 off where 0.05 is allowed; after row 96 there are no 8 rows more.
    pool.go_on(predicted, 8)
    assert pool.rows.tolist() == [[90, 90]]
    assert torch.equal(pool.history[0, 0], VECTORS[89:91])


def test_it_goes_back_to_a_saved_moment() -> None:
    pool, other = pool_at([10, 20]), pool_at([50, 60])
    pool.go_on(VECTORS[torch.tensor([[17, 18], [27, 28]])][None], 8)
    other.load_state_dict(pool.state_dict())
    assert other.rows.tolist() == pool.rows.tolist()
    assert torch.equal(other.history, pool.history)
