from __future__ import annotations

import base64
import io
from dataclasses import replace
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from demoloom.pipeline.inspection.pictures import Picture, film, stills
from demoloom.storage import Camera, EpisodeReader, ZarrStore

from ..runs import SPEC, dot_episode, write_store


def content(source: str, media_type: str) -> io.BytesIO:
    head, _, body = source.partition(",")
    assert head == f"data:{media_type};base64"
    return io.BytesIO(base64.b64decode(body))


def frames_of(picture: Picture) -> np.ndarray:
    with av.open(content(picture.source, "video/mp4")) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


def filmed(path: Path, length: int) -> Picture:
    write_store(path, [dot_episode(0, length)])
    store = ZarrStore.open(path)
    return film(store, store.summary("dot-000000"))


def test_a_film_is_h264_that_browsers_play_at_the_rate_of_the_episode(tmp_path: Path) -> None:
    picture = filmed(tmp_path / "store", 12)
    with av.open(content(picture.source, "video/mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec.canonical_name, stream.pix_fmt, stream.frames) == ("h264", "yuv420p", 12)
        assert (stream.average_rate, stream.width, stream.height) == (10, picture.width, picture.height)
    assert picture.speed == 1


def test_a_film_shows_every_frame_in_its_place(tmp_path: Path) -> None:
    # A frame of 16 px is shown ten times as large; the dot stands at x = step.
    shown = frames_of(filmed(tmp_path / "store", 12))
    for step, frame in enumerate(shown):
        red = (frame[..., 0] > 180) & (frame[..., 1] < 100)
        assert np.argwhere(red).mean(0) == pytest.approx((79.5, 10 * step + 9.5), abs=1)


@pytest.mark.parametrize(("length", "speed", "frames"), [(601, 3, 201), (301 * 16, 17, 284)])
def test_a_film_of_a_long_episode_plays_faster(tmp_path: Path, length: int, speed: int, frames: int) -> None:
    picture = filmed(tmp_path / "store", length)
    shown = frames_of(picture)
    assert (picture.speed, len(shown)) == (speed, frames)
    for number in (0, 1, frames - 1):
        red = (shown[number][..., 0] > 180) & (shown[number][..., 1] < 100)
        assert np.argwhere(red).mean(0)[1] == pytest.approx(10 * (number * speed % 14) + 9.5, abs=1)


def two_cameras(path: Path) -> EpisodeReader:
    store = ZarrStore.create(path, replace(SPEC, cameras=(Camera("top", 64, 128), Camera("wrist", 64, 64))))
    red = np.full((5, 64, 128, 3), (255, 0, 0), np.uint8)
    brightness = np.arange(5, dtype=np.uint8)[:, None, None, None]
    blue = (np.array([0, 0, 50], np.uint8) * brightness).repeat(64, 1).repeat(64, 2)
    store.append(replace(dot_episode(0, 5), images={"top": red, "wrist": blue}))
    return store


def test_stills_are_the_first_the_middle_and_the_last_frame_of_each_camera(tmp_path: Path) -> None:
    store = two_cameras(tmp_path / "store")
    picture = stills(store, store.summaries()[0])
    pixels = np.asarray(Image.open(content(picture.source, "image/webp")))
    assert pixels.shape == (64 + 2 + 64, 3 * 128 + 2 * 2, 4) == (picture.height, picture.width, 4)
    for column, step in enumerate((0, 2, 4)):
        left = column * 130
        assert (pixels[:64, left : left + 128] == (255, 0, 0, 255)).all()
        assert (pixels[66:, left : left + 64] == (0, 0, 50 * step, 255)).all()
        assert (pixels[66:, left + 64 : left + 128, 3] == 0).all()


def test_stills_of_one_frame_show_it_three_times(tmp_path: Path) -> None:
    write_store(tmp_path / "store", [dot_episode(0, 1)])
    store = ZarrStore.open(tmp_path / "store")
    assert stills(store, store.summary("dot-000000")).width == 3 * 64 + 2 * 2
