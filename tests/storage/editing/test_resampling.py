"""Source rows: state (0, t), action (t, 0), reward t, success at the last, score (t + 1) / T, frames by number."""

import numpy as np
import pytest

from demoloom.storage import recorder as recorder_module
from demoloom.storage.editing.resampling import Resampling


@pytest.fixture
def resampled(make_dataset, make_episode):
    """The rows of an episode after it was resampled by its times, in one piece."""

    def resampled(times, step, name="source", solved=(-1,)):
        times = np.asarray(times, np.float64)
        length = len(times)
        trust = np.linspace(0.9, 0.1, length, dtype=np.float32)
        frames = {
            camera: np.broadcast_to(np.arange(length, dtype=np.uint8)[:, None, None, None], array.shape).copy()
            for camera, array in make_episode(0, length=length).images.items()
        }
        success = np.zeros(length, bool)
        success[list(solved)] = True
        source = make_dataset(name, [0], length=length, trust=trust, images=frames, success=success)
        blocks = list(Resampling.plan(times, step).blocks(source, "run-000000"))
        return blocks

    return resampled


def frames_of(rows):
    return rows.images["top"][:, 0, 0, 0].tolist()


def test_the_same_rate_changes_nothing(resampled):
    (rows,) = resampled(range(5), 1.0)
    assert frames_of(rows) == [0, 1, 2, 3, 4]
    assert rows.state[:, 1].tolist() == [0, 1, 2, 3, 4]
    assert rows.action[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert rows.reward.tolist() == [0, 1, 2, 3, 4]
    assert rows.success.tolist() == [False] * 4 + [True]


def test_at_half_the_rate_outcomes_are_those_of_both_rows(resampled):
    (rows,) = resampled(range(5), 2.0)
    assert frames_of(rows) == [0, 2, 4]
    assert rows.action[:, 0].tolist() == [0, 2, 4]
    assert rows.reward.tolist() == [0 + 1, 2 + 3, 4]
    assert rows.success.tolist() == [False, False, True]
    np.testing.assert_allclose(rows.score, [2 / 5, 4 / 5, 5 / 5])
    np.testing.assert_allclose(rows.trust, [0.7, 0.3, 0.1], rtol=1e-6)


def test_a_success_at_the_end_of_a_window_is_not_lost(resampled):
    (rows,) = resampled(range(6), 3.0)  # solved in row 5, which no new row starts at
    assert frames_of(rows) == [0, 3]
    assert rows.success.tolist() == [False, True]


def test_a_success_that_did_not_last_is_not_lost_either(resampled):
    (rows,) = resampled(range(6), 3.0, solved=[1, 2])
    assert rows.success.tolist() == [True, False]


def test_at_twice_the_rate_state_is_between_and_reward_is_given_once(resampled):
    (rows,) = resampled(range(3), 0.5)
    assert rows.state[:, 1].tolist() == [0, 0.5, 1, 1.5, 2, 2]
    assert rows.action[:, 0].tolist() == [0, 0, 1, 1, 2, 2]
    assert rows.reward.tolist() == [0, 0, 0, 1, 0, 2]
    assert rows.success.tolist() == [False] * 5 + [True]


def test_a_jittering_clock_at_its_own_rate_keeps_every_row(resampled):
    # 5 ms at 30 Hz are 0.15 of a row.
    times = np.arange(8) + np.array([0, 0.15, -0.15, 0.15, 0.1, -0.15, 0, 0.15])
    (rows,) = resampled(times, 1.0)
    assert frames_of(rows) == list(range(8))
    assert rows.action[:, 0].tolist() == list(range(8))
    assert rows.reward.sum() == sum(range(8))


def test_a_gap_is_filled_with_what_was_held(resampled):
    (rows,) = resampled([0, 1, 4, 5], 1.0)
    assert frames_of(rows) == [0, 1, 1, 2, 2, 3]
    assert rows.action[:, 0].tolist() == [0, 1, 1, 1, 2, 3]
    np.testing.assert_allclose(rows.state[:, 1], [0, 1, 4 / 3, 5 / 3, 2, 3], rtol=1e-6)
    assert rows.reward.sum() == 0 + 1 + 2 + 3


def test_one_row_stays_one_row(resampled):
    (rows,) = resampled([0.0], 1.0)
    assert frames_of(rows) == [0]


@pytest.mark.parametrize("step", [0.3, 1.0, 2.0, 3.7])
def test_blocks_make_no_difference(resampled, step, monkeypatch):
    times = np.arange(40) + np.random.default_rng(0).uniform(-0.3, 0.3, 40)
    (whole,) = resampled(times, step)
    monkeypatch.setattr(recorder_module, "_BLOCK_BYTES", 5 * (16 * 24 * 3 + 16 * 16 * 3))
    blocks = resampled(times, step, name="again")
    assert len(blocks) > 2
    for name in ("state", "action", "reward", "success", "score", "trust"):
        np.testing.assert_array_equal(np.concatenate([getattr(rows, name) for rows in blocks]), getattr(whole, name))
    assert [number for rows in blocks for number in frames_of(rows)] == frames_of(whole)
    assert whole.reward.sum() == sum(range(40))
