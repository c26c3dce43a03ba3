from dataclasses import replace

import numpy as np
import pytest

from demoloom.policies.mirror import with_mirrored
from demoloom.storage.errors import ConfigError
from demoloom.storage.row_table import join_episodes
from demoloom.storage.spec import Camera

from .toy import SPEC, walk


@pytest.mark.parametrize(("mirror", "expected"), [("transpose", (3, 12)), ("anti-transpose", (13, 4))])
def test_the_dot_stays_under_its_coordinates_in_the_mirror(mirror: str, expected: tuple[int, int]) -> None:
    episode = walk(0, length=1)
    episode = replace(episode, state=np.array([[12, 3]], np.float32), action=np.array([[12, 3]], np.float32))
    frame = np.zeros((1, 16, 16, 3), np.uint8)
    frame[0, 3, 12] = 255  # row y, column x
    both = with_mirrored(join_episodes(SPEC, [replace(episode, images={"top": frame})]), mirror)  # type: ignore[arg-type]
    assert both.timeline.lengths.tolist() == [1, 1]
    assert both["observation.state"][1].tolist() == list(expected)
    # A pixel covers [x, x + 1), so that the mirror takes pixel 3 to 16 - 3 - 1.
    column, row = (3, 12) if mirror == "transpose" else (12, 3)
    assert both["observation.images.top"][[0, 1]][1, row, column].tolist() == [255, 255, 255]


def test_no_mirror_leaves_the_data_alone() -> None:
    data = join_episodes(SPEC, [walk(0)])
    assert with_mirrored(data, "none") is data


def test_a_mirror_is_refused_where_frames_are_not_square() -> None:
    data = join_episodes(replace(SPEC, cameras=(Camera("top", 16, 32),)), [walk(0)])
    with pytest.raises(ConfigError, match=r"square frames.*16 x 32"):
        with_mirrored(data, "transpose")


def test_a_mirror_is_refused_where_actions_are_no_points() -> None:
    uneven = replace(SPEC.action, high=(16.0, 8.0))
    with pytest.raises(ConfigError, match="action to be a point"):
        with_mirrored(join_episodes(replace(SPEC, action=uneven), [walk(0)]), "transpose")
