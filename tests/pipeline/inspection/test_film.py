from __future__ import annotations

import base64
import io
from pathlib import Path

import av
import numpy as np
import pytest

from demoloom.pipeline.inspection.film import film
from demoloom.pipeline.inspection.picture import Picture
from demoloom.storage import ZarrStore

from ..runs import dot_episode, write_store


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


@pytest.mark.parametrize(("length", "speed", "frames"), [(601, 3, 201), (301 * 16, 17, 285)])
def test_a_film_of_a_long_episode_plays_faster_and_ends_with_its_last_frame(
    tmp_path: Path, length: int, speed: int, frames: int
) -> None:
    picture = filmed(tmp_path / "store", length)
    shown = frames_of(picture)
    assert (picture.speed, len(shown)) == (speed, frames)
    for number, step in ((0, 0), (1, speed), (2, 2 * speed), (frames - 1, length - 1)):
        red = (shown[number][..., 0] > 180) & (shown[number][..., 1] < 100)
        assert np.argwhere(red).mean(0)[1] == pytest.approx(10 * (step % 14) + 9.5, abs=1)
