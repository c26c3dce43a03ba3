import numpy as np
import pytest

from demoloom.storage import Camera, StoreError
from demoloom.storage.lerobot_images import read_images
from demoloom.storage.video import ImageCodec

TOP = "observation.images.top"


@pytest.fixture
def file(tmp_path, spec, make_episode, write_lerobot):
    """The images of an episode of 100 rows, which are two row groups, and of one of 7."""
    episodes = [make_episode(0, 100, action=np.zeros((100, 2), np.float32)), make_episode(1)]
    write_lerobot(tmp_path / "d", spec, episodes, codec=ImageCodec())
    return tmp_path / "d/data/chunk-000/file-000.parquet"


def test_rows_of_several_row_groups_are_read(file, make_episode):
    images = read_images(file, TOP, Camera("top", 16, 24), 60, 42)
    np.testing.assert_array_equal(images[:40], make_episode(0, 100).images["top"][60:])
    np.testing.assert_array_equal(images[40:], make_episode(1).images["top"][:2])


def test_rows_beyond_the_end_are_refused(file):
    with pytest.raises(StoreError, match=r"cannot read .*top of rows 100 \.\. 107 of .*\(the file holds 107 images\)"):
        read_images(file, TOP, Camera("top", 16, 24), 100, 8)


def test_images_of_another_size_are_refused(file):
    with pytest.raises(StoreError, match=r"cannot read .*top of rows 0 \.\. 0 of .*shape \(16,24,3\)"):
        read_images(file, TOP, Camera("top", 8, 8), 0, 1)
