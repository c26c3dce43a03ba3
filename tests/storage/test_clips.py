from dataclasses import replace

import numpy as np
import pytest

from demoloom.storage import Camera, StoreError, ZarrStore, open_dataset
from demoloom.storage.clips import Clip, ClipWriter, clips_of, kept_codec
from demoloom.storage.convert import convert
from demoloom.storage.editing.merge import merge
from demoloom.storage.editing.retime import restamp
from demoloom.storage.lerobot_layout import read_codec
from demoloom.storage.video import ImageCodec, VideoCodec, VideoReader, VideoWriter

LOSSY = VideoCodec(pix_fmt="yuv420p", crf=35)
CAMERA = Camera("top", 32, 48)


@pytest.fixture
def frames():
    """A still picture in which one pixel after the other turns white: nothing that x264 would begin anew for."""
    still = np.random.default_rng(0).integers(0, 256, (32, 48, 3), np.uint8)
    frames = np.repeat(still[None], 20, axis=0)
    for step in range(20):
        frames[step, 4 : 4 + step, 8] = 255
    return frames


@pytest.fixture
def video(tmp_path, frames):
    """20 frames with a key frame at every 8th."""
    writer = VideoWriter(tmp_path / "video.mp4", CAMERA, 10, LOSSY)
    writer.write(frames)
    writer.close()
    return tmp_path / "video.mp4"


@pytest.mark.parametrize(("first", "count"), [(0, 20), (0, 5), (8, 12), (8, 3), (16, 4)])
def test_a_clip_decodes_to_the_same_frames_at_the_new_rate(tmp_path, video, first, count, frames):
    writer = ClipWriter(tmp_path / "clip", Clip(video, first, count, 10, LOSSY), fps=30)
    writer.write(frames[first : first + count])
    writer.close()
    assert writer.num_frames == count
    before = VideoReader(CAMERA, 10).read(video, first, count)
    np.testing.assert_array_equal(VideoReader(CAMERA, 30).read(tmp_path / "clip", 0, count), before)


@pytest.mark.parametrize(("first", "count"), [(3, 5), (16, 5)])
def test_a_clip_without_a_key_frame_or_beyond_the_end_is_refused(tmp_path, video, first, count):
    writer = ClipWriter(tmp_path / "clip", Clip(video, first, count, 10, LOSSY), fps=10)
    with pytest.raises(StoreError, match=r"frames from \d+ on that can be copied, expected 5"):
        writer.close()


@pytest.fixture
def lossy(make_episode, write_lerobot, spec, tmp_path):
    """Three lossy datasets of two episodes."""
    paths = [tmp_path / name for name in "abc"]
    for number, path in enumerate(paths):
        write_lerobot(path, spec, [make_episode(2 * number, length=20), make_episode(2 * number + 1, length=9)], LOSSY)
    return paths


def video_bytes(path):
    return sum(file.stat().st_size for file in path.rglob("*.mp4"))


def test_merging_lossy_datasets_loses_nothing_and_encodes_nothing(tmp_path, lossy, same):
    merge(lossy, tmp_path / "all", "lerobot")
    merged = open_dataset(tmp_path / "all")
    for path in lossy:
        for episode in open_dataset(path):
            same(merged.read(episode.id), episode)
    assert read_codec(tmp_path / "all") == LOSSY
    # Exact copies of noisy lossy frames would take many times the space.
    assert video_bytes(tmp_path / "all") <= sum(map(video_bytes, lossy))


def test_a_new_rate_needs_no_encoding_either(tmp_path, lossy, same):
    before = open_dataset(lossy[1])
    restamp(before, tmp_path / "after", "lerobot", fps=25)
    for episode in open_dataset(tmp_path / "after"):
        same(replace(episode, lineage=before.summary(episode.id).lineage), before.read(episode.id))
    assert read_codec(tmp_path / "after") == LOSSY


def test_another_codec_is_used_where_it_is_asked_for_or_the_sources_differ(
    tmp_path, lossy, write_lerobot, make_episode, spec
):
    merge(lossy, tmp_path / "exact", "lerobot", codec=VideoCodec())
    assert read_codec(tmp_path / "exact") == VideoCodec()
    write_lerobot(tmp_path / "d", spec, [make_episode(9)])
    merge([*lossy, tmp_path / "d"], tmp_path / "all", "lerobot")
    assert read_codec(tmp_path / "all") == VideoCodec()
    for path in ("exact", "all"):
        np.testing.assert_array_equal(
            open_dataset(tmp_path / path).read("run-000002").images["top"],
            open_dataset(lossy[1]).read("run-000002").images["top"],
        )


def test_images_stay_images_and_what_is_no_video_has_no_clips(tmp_path, spec, make_episode, write_lerobot):
    write_lerobot(tmp_path / "images", spec, [make_episode(0)], ImageCodec())
    images = open_dataset(tmp_path / "images")
    assert clips_of(images, "run-000000") == {}
    convert(images, tmp_path / "copy", "lerobot")
    assert read_codec(tmp_path / "copy") == ImageCodec()
    store = ZarrStore.create(tmp_path / "zarr", spec)
    store.append(make_episode(0))
    assert clips_of(store, "run-000000") == {}
    assert kept_codec([store, images]) is None
