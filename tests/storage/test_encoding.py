import threading
import time

import numpy as np
import pytest

from demoloom.storage import Camera
from demoloom.storage.encoding import ImageWriter, QueuedWriter
from demoloom.storage.video import ImageCodec, VideoCodec, VideoReader, VideoWriter

CAMERA = Camera("top", 592, 592)  # a frame is a block


class SlowWriter:
    """Encodes a block in 20 ms, however small it is."""

    def __init__(self, writer):
        self._writer = writer

    @property
    def num_frames(self):
        return self._writer.num_frames

    def write(self, frames):
        time.sleep(0.02)
        self._writer.write(frames)

    def close(self):
        self._writer.close()


class FullDisk:
    num_frames = 0

    def write(self, frames):
        raise OSError(28, "No space left on device")

    def close(self):
        pass


def numbered(count):
    return np.broadcast_to(np.arange(count, dtype=np.uint8)[:, None, None, None], (count, 592, 592, 3))


def test_a_producer_faster_than_its_encoder_waits_and_every_frame_is_kept(tmp_path):
    queue = QueuedWriter(SlowWriter(VideoWriter(tmp_path / "v.mp4", CAMERA, 10, VideoCodec())))
    started = time.monotonic()
    for frame in numbered(20):
        queue.write(frame[None])
    waited = time.monotonic() - started
    queue.close()
    assert waited > 0.25  # 20 blocks of 20 ms, but the few that fit into the queue
    frames = VideoReader(CAMERA, 10).read(tmp_path / "v.mp4", 0, 20)
    assert frames[:, 0, 0, 0].tolist() == list(range(20))


def test_what_an_encoder_could_not_write_is_raised_in_the_caller():
    queue = QueuedWriter(FullDisk())
    queue.write(numbered(1))
    time.sleep(0.1)
    with pytest.raises(OSError, match="No space left"):
        queue.write(numbered(1))
    with pytest.raises(OSError, match="No space left"):
        queue.close()


def test_an_abandoned_encoder_ends_its_thread_without_encoding_what_waits(tmp_path):
    before = threading.active_count()
    writer = SlowWriter(VideoWriter(tmp_path / "v.mp4", CAMERA, 10, VideoCodec()))
    queue = QueuedWriter(writer)
    for frame in numbered(4):
        queue.write(frame[None])
    queue.abandon()
    assert writer.num_frames < 4
    assert threading.active_count() == before


def test_pixels_are_counted_while_frames_are_encoded(tmp_path):
    queue = QueuedWriter(ImageWriter(tmp_path / "p", ImageCodec()))
    queue.write(numbered(3))
    queue.close()
    assert queue.histogram[:, :4].tolist() == [[592 * 592] * 3 + [0]] * 3
