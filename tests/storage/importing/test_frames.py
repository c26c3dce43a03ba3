import numpy as np
import pytest

from demoloom.storage import StoreError
from demoloom.storage.importing.frames import frame_layout
from demoloom.storage.importing.recording import Window

RED = np.zeros((2, 4, 5, 3), np.uint8)
RED[..., 0] = 255


@pytest.mark.parametrize(
    ("frames", "blue_first"),
    [
        (RED, False),
        (RED[..., ::-1], True),
        (np.moveaxis(RED, -1, 1), False),
        (RED.astype(np.float32), False),
        (RED / 255.0, False),
        (np.moveaxis(RED / 255.0, -1, 1)[:, ::-1], True),
    ],
)
def test_a_red_image_comes_out_red_from_every_layout(frames, blue_first):
    layout = frame_layout(Window.whole(frames), "img", blue_first)
    assert (layout.height, layout.width) == (4, 5)
    assert layout.to_rgb(frames, "img").tolist() == RED.tolist()


def test_floats_are_rounded():
    frames = np.full((1, 2, 2, 3), 99.6, np.float32)
    assert frame_layout(Window.whole(frames), "img").to_rgb(frames, "img").max() == 100


@pytest.mark.parametrize("shape", [(2, 4, 5), (2, 4, 5, 1), (2, 4, 5, 4)])
def test_what_has_not_three_channels_is_refused(shape):
    with pytest.raises(StoreError, match=r"img has rows of shape .*; expected \(height, width, 3\)"):
        frame_layout(Window.whole(np.zeros(shape, np.uint8)), "img")


def test_a_type_that_does_not_say_what_white_is_is_refused():
    with pytest.raises(StoreError, match="the frames img are int32; expected uint8"):
        frame_layout(Window.whole(RED.astype(np.int32)), "img")


@pytest.mark.parametrize("level", [-1, 256, np.nan])
def test_a_level_that_no_image_has_is_refused(level):
    frames = RED.astype(np.float32)
    layout = frame_layout(Window.whole(frames), "img")
    frames[1, 0, 0, 0] = level
    with pytest.raises(StoreError, match=r"the frames img hold levels .* where 0 .. 255 is expected"):
        layout.to_rgb(frames, "img")
