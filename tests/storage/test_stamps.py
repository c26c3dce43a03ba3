import numpy as np

from demoloom.storage.stamps import due_times, in_time


def test_row_t_is_due_at_t_by_the_rate():
    assert due_times(3, 10).tolist() == [0.0, 0.1, 0.2]
    assert due_times(2, 4, start=6).tolist() == [1.5, 1.75]


def test_a_tenth_of_a_millisecond_is_let_pass_and_two_are_not():
    due = due_times(3, 10)
    assert in_time(due + np.array([0, 0.9e-4, -0.9e-4]), due).tolist() == [True, True, True]
    assert in_time(due + np.array([0, 2e-4, -2e-4]), due).tolist() == [True, False, False]


def test_what_float32_makes_of_stamps_after_a_day_is_in_time():
    due = due_times(1000, 30, start=30 * 86_400)
    assert np.abs(due.astype(np.float32) - due).max() > 1e-3
    assert in_time(due.astype(np.float32), due).all()


def test_a_stamp_that_is_no_number_is_not_in_time():
    assert in_time(np.array([0.0, np.nan]), due_times(2, 10)).tolist() == [True, False]
