import numpy as np

from demoloom.generators.realities.pusht import PushTReality
from demoloom.teleop.pusht.geometry import placement_of
from demoloom.teleop.pusht.sight import read_pose, tee_centre


def seen(num=24):
    observation, info = PushTReality(num).reset(seed=list(range(num)))
    return observation["observation.images.top"], info["labels"]["block_pose"]


def test_poses_read_by_colour_are_mostly_within_a_pixel_and_a_few_degrees():
    images, true = seen()
    read = read_pose(images)["block_pose"]
    assert read.dtype == np.float32
    assert np.median(np.abs(read[:, :2] - true[:, :2])) < 8
    assert np.median((read[:, 2:] * true[:, 2:]).sum(axis=1)) > np.cos(np.radians(5))


def test_the_centre_of_the_paint_lies_near_the_centre_of_gravity():
    images, true = seen()
    apart = np.linalg.norm(tee_centre(images) - placement_of(true.astype(float))[:, :2], axis=1)
    assert np.median(apart) < 10


def test_where_no_tee_is_seen_its_centre_is_taken_for_the_middle():
    assert tee_centre(np.full((1, 64, 64, 3), 255, np.uint8)).tolist() == [[256.0, 256.0]]
