from __future__ import annotations

import base64
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image

from demoloom.pipeline.inspection.stills import stills
from demoloom.storage import Camera, EpisodeReader, ZarrStore

from ..runs import SPEC, dot_episode, write_store


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
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(picture.source.partition(",")[2]))))
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
