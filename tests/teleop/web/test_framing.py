import io

import numpy as np
from PIL import Image

from demoloom.generators.testing import CountingWorld
from demoloom.teleop.driving import Drive, KeptTakes, no_starts
from demoloom.teleop.web.framing import frame_bytes, jpeg, parse_frame
from demoloom.teleop.web.hand import Held


def test_a_red_frame_arrives_red() -> None:
    red = np.zeros((16, 16, 3), np.uint8)
    red[..., 0] = 255
    shown = np.asarray(Image.open(io.BytesIO(jpeg(red))))
    assert shown.shape == (16, 16, 3)
    assert (np.abs(shown.astype(int) - [255, 0, 0]) < 5).all()


def test_a_single_blue_pixel_keeps_its_colour() -> None:
    frame = np.full((16, 16, 3), 255, np.uint8)
    frame[8, 8] = [0, 0, 255]
    shown = np.asarray(Image.open(io.BytesIO(jpeg(frame)))).astype(int)
    assert shown[8, 8, 2] - shown[8, 8, 0] > 150
    assert shown[8, 11, 2] - shown[8, 11, 0] < 30


def test_a_message_is_taken_apart_as_it_was_put_together(takes: KeptTakes) -> None:
    drive = Drive(CountingWorld(1), takes, no_starts())
    drive.start(seed=4)
    header, pictures = parse_frame(frame_bytes(5, drive.look(), Held(seq=2, t_ms=7.5), "reality"))
    assert header["tick"] == 5
    assert (header["seq"], header["t"], header["score"], header["success"]) == (2, 7.5, 0.5, False)
    assert header["views"] == [{"camera": "top", "world": "reality", "size": len(pictures[0])}]
