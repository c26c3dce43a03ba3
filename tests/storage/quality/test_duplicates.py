import time

import numpy as np
import pytest

from demoloom.storage.quality import duplicates
from demoloom.storage.quality.duplicates import FARTHEST, nearest_other, resample


def constant_paths(*heights: float) -> np.ndarray:
    """(N, 3, 2): path i is at `heights[i]` in both dimensions all the time, so that distances are differences."""
    return np.array(heights, np.float64)[:, None, None] * np.ones((1, 3, 2))


def test_a_resampled_path_keeps_its_ends_and_is_linear_between_rows():
    assert resample(np.array([[0.0], [1.0], [4.0]]), 5).tolist() == [[0], [0.5], [1], [2.5], [4]]


def test_a_path_of_one_row_stays_where_it_is():
    assert resample(np.array([[3.0, 4.0]]), 3).tolist() == [[3, 4]] * 3


def test_the_same_motion_at_half_the_speed_is_at_distance_0():
    fast = np.linspace(0, 1, 11)[:, None]
    slow = np.linspace(0, 1, 21)[:, None]
    assert nearest_other(np.stack([resample(fast, 16), resample(slow, 16)])).distance == pytest.approx([0, 0])


def test_the_nearest_other_is_found_with_its_distance_in_ranges():
    found = nearest_other(constant_paths(0.0, 0.1, 0.5))
    assert found.number.tolist() == [1, 0, 1]
    assert found.distance == pytest.approx([0.1, 0.1, 0.4])


def test_only_the_first_of_a_set_of_copies_is_far_from_all_before_it():
    found = nearest_other(constant_paths(0.0, 0.3, 0.3, 0.3), earlier=True)
    assert found.number.tolist() == [-1, 0, 1, 1]
    assert found.distance == pytest.approx([FARTHEST, 0.3, 0, 0])


def test_an_episode_alone_is_far_from_all():
    found = nearest_other(constant_paths(0.2))
    assert (found.number.tolist(), found.distance.tolist()) == ([-1], [FARTHEST])


def test_a_difference_of_a_billionth_is_not_lost_in_rounding():
    assert nearest_other(constant_paths(100.0, 100.0 + 1e-9)).distance == pytest.approx([1e-9, 1e-9], rel=1e-3)


@pytest.mark.parametrize("earlier", [False, True])
def test_blocks_find_what_comparing_each_with_each_finds(monkeypatch, earlier):
    monkeypatch.setattr(duplicates, "_BLOCK_ENTRIES", 3 * 20)
    paths = np.random.default_rng(0).uniform(size=(20, 4, 2))
    apart = np.sqrt(((paths[:, None] - paths[None]) ** 2).mean((2, 3)))
    apart[np.triu(np.ones_like(apart, bool)) if earlier else np.eye(20, dtype=bool)] = np.inf
    found = nearest_other(paths, earlier=earlier)
    first = 1 if earlier else 0
    assert found.number[first:].tolist() == apart.argmin(1)[first:].tolist()
    assert found.distance[first:] == pytest.approx(apart.min(1)[first:])


@pytest.mark.slow
def test_10000_episodes_of_a_two_armed_robot_take_seconds_and_little_memory():
    paths = np.random.default_rng(0).uniform(size=(10_000, 16, 28))
    started = time.perf_counter()
    nearest_other(paths)
    assert time.perf_counter() - started < 60
