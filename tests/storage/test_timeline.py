import numpy as np

from demoloom.storage.timeline import Timeline

TIMELINE = Timeline([3, 4])


def test_windows_hold_the_first_and_last_row_of_their_own_episode():
    positions, is_pad = TIMELINE.window(np.array([0, 2, 3, 6]), [-1, 0, 1])
    assert positions.tolist() == [[0, 0, 1], [1, 2, 2], [3, 3, 4], [5, 6, 6]]
    assert is_pad.tolist() == [[True, False, False], [False, False, True], [True, False, False], [False, False, True]]


def test_a_row_knows_its_episode_and_where_that_begins_and_ends():
    assert TIMELINE.episode_of.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert TIMELINE.first(np.array([1, 6])).tolist() == [0, 3]
    assert TIMELINE.last(np.array([1, 3])).tolist() == [2, 6]


def test_rows_of_episodes_come_in_the_order_asked_for():
    assert TIMELINE.rows(np.array([1, 0])).tolist() == [3, 4, 5, 6, 0, 1, 2]
    assert TIMELINE.rows(np.array([], int)).tolist() == []


def test_no_episodes_have_no_rows():
    assert len(Timeline([])) == 0
    assert Timeline([]).episode_of.tolist() == []
