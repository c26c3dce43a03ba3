from __future__ import annotations

import numpy as np
import pytest

from demoloom.generators.learned.canvas import canvas_size, cut_out, lay_out
from demoloom.storage.errors import ConfigError
from demoloom.storage.spec import Camera

WIDE, TALL = Camera("wide", 2, 3), Camera("tall", 4, 1)


def test_a_canvas_holds_the_highest_and_the_widest_camera_and_is_rounded_up() -> None:
    assert canvas_size([WIDE, TALL], 1) == (4, 3)
    assert canvas_size([WIDE, TALL], 8) == (8, 8)


def test_a_frame_stands_in_the_corner_and_its_edge_is_repeated() -> None:
    frame = np.array([[1, 2], [3, 4]], np.uint8)[None, ..., None].repeat(3, -1)
    assert lay_out([frame], 3, 4)[0, ..., 0].tolist() == [[1, 2, 2, 2], [3, 4, 4, 4], [3, 4, 4, 4]]


def test_what_was_laid_out_is_cut_out_as_it_was() -> None:
    rng = np.random.default_rng(0)
    frames = {c.name: rng.integers(0, 256, (5, c.height, c.width, 3), np.uint8) for c in (WIDE, TALL)}
    again = cut_out(lay_out(list(frames.values()), 8, 8), [WIDE, TALL])
    assert all(np.array_equal(again[name], frame) for name, frame in frames.items())


def test_without_a_camera_there_is_no_canvas() -> None:
    with pytest.raises(ConfigError, match="needs at least one camera"):
        canvas_size([], 8)
