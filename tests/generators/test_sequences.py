"""Every number below is its own row's number, so that one off by a row shows."""

import numpy as np
import pytest
import torch

from demoloom.generators.learned.crops import Crops
from demoloom.generators.learned.dynamics import follow
from demoloom.generators.learned.rollout_pool import RolloutPool
from demoloom.generators.learned.sequences import Sequences
from demoloom.generators.learned.timeline import Timeline

ROWS = np.array([0, 2, 6])  # of two episodes: rows 0 to 4 and 5 to 8


def _sequences(anchored: bool) -> Sequences:
    number = torch.arange(9.0)
    timeline = Timeline(np.array([0, 5, 9]), np.array([0, 1]))
    latents, tasks = number[:, None, None, None].expand(9, 1, 4, 4).half(), torch.tensor([0] * 5 + [1] * 4)
    return Sequences(timeline, latents, 100 + number[:, None], 200 + number[:, None], 2, anchored, tasks)


@pytest.fixture
def sequences() -> Sequences:
    return _sequences(anchored=False)


def test_the_last_action_of_a_history_is_the_one_commanded_on_seeing_its_row(sequences: Sequences) -> None:
    assert sequences.action_history(ROWS)[..., 0].tolist() == [[200, 200], [201, 202], [205, 206]]


def test_a_history_ends_with_its_row_and_stays_in_its_episode(sequences: Sequences) -> None:
    assert sequences.history(ROWS)[:, :, 0, 0, 0].tolist() == [[0, 0], [1, 2], [5, 6]]
    assert sequences.vector_history(ROWS)[..., 0].tolist() == [[100, 100], [101, 102], [105, 106]]


def test_what_is_predicted_is_the_row_after(sequences: Sequences) -> None:
    assert sequences.following(ROWS)[:, 0, 0, 0].tolist() == [1, 3, 7]
    assert sequences.following_vector(ROWS)[:, 0].tolist() == [101, 103, 107]
    assert (sequences.change(ROWS) == 1).all()


def test_windows_of_latents_are_of_the_same_rows(sequences: Sequences) -> None:
    cells = torch.tensor([[0, 1]] * len(ROWS))
    crops = Crops(cells, cells)
    assert torch.equal(sequences.history(ROWS, crops), sequences.history(ROWS)[..., :2, :2])
    assert torch.equal(sequences.following(ROWS, crops), sequences.following(ROWS)[..., :2, :2])


def test_only_rows_with_a_next_one_are_drawn(sequences: Sequences) -> None:
    drawn = sequences.draw(500, np.random.default_rng(0))
    assert set(drawn.tolist()) == {0, 1, 2, 3, 5, 6, 7}


def test_every_row_has_the_task_of_its_episode(sequences: Sequences) -> None:
    assert sequences.task(ROWS).tolist() == [0, 0, 1]


def test_an_anchor_is_the_first_row_of_the_episode_and_stays_in_front() -> None:
    history = _sequences(anchored=True).history(ROWS)
    assert history[:, :, 0, 0, 0].tolist() == [[0, 0, 0], [0, 1, 2], [5, 5, 6]]
    after = follow(history, torch.full((3, 1, 4, 4), 9.0), anchored=True)
    assert after[:, :, 0, 0, 0].tolist() == [[0, 0, 9], [0, 2, 9], [5, 6, 9]]


def test_without_an_anchor_the_oldest_latent_is_forgotten(sequences: Sequences) -> None:
    after = follow(sequences.history(ROWS), torch.full((3, 1, 4, 4), 9.0), anchored=False)
    assert after[:, :, 0, 0, 0].tolist() == [[0, 9], [2, 9], [6, 9]]


def test_a_rollout_keeps_the_anchor_it_started_from() -> None:
    pool = RolloutPool(_sequences(anchored=True), 4, np.random.default_rng(0))
    pool.rows = np.array([0, 1, 5, 6])
    pool.history = pool.sequences.history(pool.rows)
    pool.follow(pool.sequences.following(pool.rows), limit=9.0, length=1e9)
    assert pool.history[:, :, 0, 0, 0].tolist() == [[0, 0, 1], [0, 1, 2], [5, 5, 6], [5, 6, 7]]
