import numpy as np

from demoloom.storage import Vector
from demoloom.storage.quality.starts import start_cells

SQUARE = Vector(("x", "y"), (0.0, 0.0), (100.0, 100.0))


def test_starts_in_one_of_four_cells_cover_a_quarter():
    found = start_cells(np.array([[10.0, 10], [20, 20]]), SQUARE, num_cells=2)
    assert found.coverage == 0.25
    assert found.share.tolist() == [1, 1]


def test_the_share_of_a_start_is_that_of_its_cell():
    found = start_cells(np.array([[10.0, 10], [20, 20], [30, 30], [90, 10]]), SQUARE, num_cells=2)
    assert found.coverage == 0.5
    assert found.share.tolist() == [0.75, 0.75, 0.75, 0.25]


def test_the_two_dimensions_that_vary_most_are_divided():
    state = Vector(("still", "wide", "narrow", "wider"), (0.0,) * 4, (10.0,) * 4)
    starts = np.array([[5.0, 1, 5.0, 0], [5, 8, 5.1, 9]])
    assert start_cells(starts, state, num_cells=10).dimensions == ("wide", "wider")


def test_a_start_outside_the_bounds_counts_to_the_outermost_cell():
    found = start_cells(np.array([[-5.0], [1], [250]]), Vector(("x",), (0.0,), (100.0,)), num_cells=10)
    assert found.share.tolist() == [2 / 3, 2 / 3, 1 / 3]
    assert found.coverage == 0.2
