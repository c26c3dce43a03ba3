from dataclasses import replace

import numpy as np
import pytest

from demoloom.generators.learned.interaction import collect_rows
from demoloom.generators.learned.pose_errors import errors_between, moved_within, pose_rows
from demoloom.generators.probe import Probe
from demoloom.storage.spec import Vector

from .moving_square import SPEC, square_episodes

RANGE = Vector(("x", "y", "cos", "sin"), (0.0, 0.0, -1.0, -1.0), (500.0, 500.0, 1.0, 1.0))


class Reader(Probe):
    """Reads poses that were written into the first pixels of frames."""

    def __init__(self):
        self.labels = {"body": ("x", "y", "cos", "sin"), "other": ("x", "y")}

    def __call__(self, frames):
        poses = np.tile([0.0, 0.0, 1.0, 0.0], (len(frames), 1))
        poses[:, 0] = frames[:, 0, 0, 0]
        return {"body": poses}


@pytest.fixture
def data():
    """Two episodes of 20 rows: in the first a body moves by 10 a step, in the second it rests."""
    spec = replace(SPEC, labels={"body": RANGE})
    episodes = []
    for index, episode in enumerate(square_episodes(2)):
        poses = np.tile(np.array([0, 0, 1, 0], np.float32), (20, 1))
        poses[:, 0] = 10 * np.arange(20) * (index == 0)
        episodes.append(replace(episode, labels={"body": poses}))
    return collect_rows(spec, episodes)


def test_errors_of_poses_are_a_distance_and_the_shorter_way_round() -> None:
    errors = errors_between(np.array([[0.0, 0.0, 1.0, 0.0]]), np.array([[3.0, 4.0, 0.0, -1.0]]))
    assert errors.place == pytest.approx(5.0)
    assert errors.degrees == pytest.approx(90.0)


def test_a_body_has_moved_when_it_was_elsewhere_at_any_step(data) -> None:
    assert moved_within(data, "body", data.starts[:-1], 3).tolist() == [True, False]


def test_bodies_that_moved_are_counted_apart_from_those_that_did_not(data) -> None:
    frames = np.zeros((2, 8, 8, 3), np.uint8)
    frames[:, 0, 0, 0] = (34, 7)
    rows = list(pose_rows(Reader(), data, data.starts[:-1], 3, {"model": frames, "no_change": 0 * frames}))
    assert [(row["moved"], row["episodes"], row["place"], row["place_no_change"]) for row in rows] == [
        (True, 1, 4.0, 30.0),
        (False, 1, 7.0, 0.0),
    ]
