from pathlib import Path

import av
import numpy as np
import pytest

from demoloom.storage import Camera, ConfigError, StoreError
from demoloom.storage.video import ImageCodec, VideoCodec, VideoReader, VideoWriter


def moving_block(size: int, length: int = 20) -> np.ndarray:
    """A red block going over a still background of hard black and white tiles."""
    tiles = np.indices((size, size)).sum(0) // 8 % 2 * 255
    frames = np.repeat(np.broadcast_to(tiles.astype(np.uint8)[None, ..., None], (1, size, size, 3)), length, 0)
    for step in range(length):
        frames[step, 4:12, step % (size - 8) : step % (size - 8) + 8] = [255, 0, 0]
    return frames


def there_and_back(path: Path, frames: np.ndarray, codec: VideoCodec) -> np.ndarray:
    camera = Camera("top", *frames.shape[1:3])
    writer = VideoWriter(path / "v.mp4", camera, 10, codec)
    writer.write(frames)
    writer.close()
    return VideoReader(camera, 10).read(path / "v.mp4", 0, len(frames))


@pytest.mark.parametrize("size", [16, 24, 64, 96, 97, 128])
def test_the_default_codec_loses_nothing_at_any_size(tmp_path, size):
    frames = moving_block(size)
    np.testing.assert_array_equal(there_and_back(tmp_path, frames, VideoCodec()), frames)


def test_tiny_frames_and_single_frames_survive(tmp_path):
    frames = np.zeros((1, 2, 3, 3), np.uint8)
    frames[..., 0] = 255
    np.testing.assert_array_equal(there_and_back(tmp_path, frames, VideoCodec()), frames)


def test_the_default_codec_keeps_noise(tmp_path):
    frames = np.random.default_rng(0).integers(0, 256, (9, 32, 32, 3), np.uint8)
    np.testing.assert_array_equal(there_and_back(tmp_path, frames, VideoCodec()), frames)


@pytest.mark.parametrize("size", [16, 24, 64, 96, 128])
def test_yuv444p_at_crf_12_is_within_eight_levels_in_every_block(tmp_path, size):
    frames = moving_block(size)
    decoded = there_and_back(tmp_path, frames, VideoCodec("yuv444p", crf=12))
    error = np.abs(decoded.astype(int) - frames)
    blocks = error.reshape(len(frames), size // 8, 8, size // 8, 8, 3).mean((2, 4, 5))
    assert blocks.max() < 8


@pytest.mark.parametrize("distance", [1, 8])
def test_key_frames_are_as_far_apart_as_asked_for(tmp_path, distance):
    there_and_back(tmp_path, moving_block(16), VideoCodec(frames_per_key=distance))
    with av.open(str(tmp_path / "v.mp4")) as file:
        packets = [packet for packet in file.demux(video=0) if packet.dts is not None]
    assert [number for number, packet in enumerate(packets) if packet.is_keyframe] == list(range(0, 20, distance))


def test_a_higher_crf_takes_fewer_bytes(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (9, 32, 32, 3), np.uint8)
    sizes = []
    for crf in (0, 18, 40):
        there_and_back(tmp_path, noise, VideoCodec("yuv420p", crf))
        sizes.append((tmp_path / "v.mp4").stat().st_size)
    assert sizes[0] > sizes[1] > sizes[2]


def test_any_episode_of_a_file_can_be_read_in_any_order(tmp_path):
    frames = moving_block(32, 50)
    camera = Camera("top", 32, 32)
    writer = VideoWriter(tmp_path / "v.mp4", camera, 30, VideoCodec())
    for first in (0, 13, 14):
        writer.write(frames[first : {0: 13, 13: 14, 14: 50}[first]])
    writer.close()
    reader = VideoReader(camera, 30)
    for first, count in ((13, 1), (14, 36), (0, 13), (13, 1), (49, 1), (5, 3)):
        np.testing.assert_array_equal(reader.read(tmp_path / "v.mp4", first, count), frames[first : first + count])


def test_a_file_that_ends_early_is_named(tmp_path):
    there_and_back(tmp_path, moving_block(16), VideoCodec())
    with pytest.raises(StoreError, match=r"frames 15 \.\. 24 of .*v\.mp4 \(the file ends before"):
        VideoReader(Camera("top", 16, 16), 10).read(tmp_path / "v.mp4", 15, 10)


def test_a_file_of_another_rate_is_named(tmp_path):
    there_and_back(tmp_path, moving_block(16), VideoCodec())
    with pytest.raises(StoreError, match=r"expected one at 0\.0667 s"):
        VideoReader(Camera("top", 16, 16), 15).read(tmp_path / "v.mp4", 0, 10)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(StoreError, match=r"v\.mp4"):
        VideoReader(Camera("top", 16, 16), 15).read(tmp_path / "v.mp4", 0, 10)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"pix_fmt": "rgb24"}, "pix_fmt must be one of gbrp, yuv444p, yuv420p, got 'rgb24'"),
        ({"crf": 60}, "crf must be in 0 .. 51, got 60"),
        ({"frames_per_key": 0}, "got 0"),
        ({"preset": "quick"}, "preset must be one of .* got 'quick'"),
        ({"num_threads": -1}, "num_threads must be 0 or more, got -1"),
    ],
)
def test_a_setting_that_no_codec_has_is_refused(setting, message):
    with pytest.raises(ConfigError, match=message):
        VideoCodec(**setting)


def test_odd_sizes_are_refused_for_yuv420p():
    with pytest.raises(ConfigError, match="camera 'top' has 97 x 96"):
        VideoCodec("yuv420p").check(Camera("top", 97, 96))


@pytest.mark.parametrize(
    ("codec", "is_lossless"),
    [
        (VideoCodec(), True),
        (VideoCodec("gbrp", 1), False),
        (VideoCodec("yuv444p", 0), False),
        (ImageCodec(), True),
    ],
)
def test_lossless_are_rgb_at_crf_0_and_images(codec, is_lossless):
    assert codec.is_lossless == is_lossless
