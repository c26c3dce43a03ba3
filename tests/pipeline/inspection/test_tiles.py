from __future__ import annotations

import numpy as np

from demoloom.pipeline.inspection.tiles import Tiles, resized
from demoloom.storage import Camera

RED, BLUE = (255, 0, 0), (0, 0, 255)


def filled(camera: Camera, colour: tuple[int, int, int]) -> np.ndarray:
    return np.full((camera.height, camera.width, 3), colour, np.uint8)


def test_a_large_frame_is_made_smaller_to_the_longer_side() -> None:
    assert Tiles((), 320).size(Camera("top", 480, 640)) == (240, 320)


def test_a_small_frame_is_enlarged_by_a_whole_factor() -> None:
    assert Tiles((), 320).size(Camera("top", 2, 3)) == (2 * 54, 3 * 54)
    assert Tiles((), 320).size(Camera("top", 96, 96)) == (192, 192)
    assert Tiles((), 320).size(Camera("top", 200, 200)) == (200, 200)


def test_a_line_of_pixels_keeps_a_pixel_of_height() -> None:
    assert Tiles((), 320).size(Camera("line", 1, 5000)) == (1, 320)


def test_cameras_stand_side_by_side_in_their_order() -> None:
    left, right = Camera("left", 4, 4), Camera("right", 2, 4)
    tiles = Tiles((left, right), side=4)
    picture = tiles.picture({"right": filled(right, BLUE), "left": filled(left, RED)})
    assert picture.shape == (4, 8, 3)
    assert (picture[:, :4] == RED).all()
    assert (picture[:2, 4:] == BLUE).all()
    assert (picture[2:, 4:] == 0).all()


def test_a_fifth_camera_begins_a_second_row() -> None:
    cameras = [Camera(str(number), 4, 4) for number in range(5)]
    tiles = Tiles(cameras, side=4)
    assert (tiles.height, tiles.width) == (8, 16)
    picture = tiles.picture({camera.name: filled(camera, (int(camera.name) + 1, 0, 0)) for camera in cameras})
    assert picture[0, ::4, 0].tolist() == [1, 2, 3, 4]
    assert picture[4, ::4, 0].tolist() == [5, 0, 0, 0]


def test_a_picture_has_an_even_size_as_video_needs() -> None:
    tiles = Tiles((Camera("odd", 5, 7),), side=7)
    assert tiles.picture({"odd": filled(Camera("odd", 5, 7), RED)}).shape == (6, 8, 3)


def test_enlarged_pixels_are_squares_and_reduced_ones_are_averaged() -> None:
    frame = np.array([[RED, BLUE]], np.uint8)
    assert resized(frame, 2, 4).tolist() == [[[*RED], [*RED], [*BLUE], [*BLUE]]] * 2
    assert resized(frame, 1, 1).tolist() == [[[128, 0, 128]]]
