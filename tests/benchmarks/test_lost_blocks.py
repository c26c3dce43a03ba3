import numpy as np
import pytest
from lost_blocks import depth_in_walls


def test_a_t_that_touches_the_wall_is_not_in_it() -> None:
    # Upright, its bar reaches 60 to both sides: at x = 65 to the wall at 5, at x = 45 to 20 behind it.
    upright = np.array([[65.0, 200.0, 1.0, 0.0], [45.0, 200.0, 1.0, 0.0]])
    assert depth_in_walls(upright).tolist() == [0.0, 20.0]


def test_the_stem_counts_where_it_points() -> None:
    # Turned by a quarter its stem of 120 points to the left: from x = 100 to 25 behind the wall.
    assert depth_in_walls(np.array([[100.0, 200.0, 0.0, 1.0]]))[0] == pytest.approx(25.0)
