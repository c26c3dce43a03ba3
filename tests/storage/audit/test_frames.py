from io import BytesIO

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from demoloom.storage.audit import audit

from .damage import (
    DATA,
    RECORDS,
    VIDEO,
    decode,
    edit_feature,
    edit_rows,
    encode,
    make_foreign,
    named,
    the_finding,
    with_value,
)

TOP = "observation.images.top"
LAST = {"lerobot": "run-000002", "foreign": "d-000002"}


@pytest.fixture(params=["lerobot", "foreign"])
def kind(request):
    return request.param


def test_a_video_with_one_frame_fewer_than_rows_is_named(copy, kind):
    dataset = copy(kind)
    encode(dataset / VIDEO, decode(dataset / VIDEO)[:-1])
    assert "4 of the frames of its 5 rows were found" in the_finding(audit(dataset), TOP, LAST[kind]).message


def test_a_video_with_one_frame_more_than_rows_is_named(copy, kind):
    dataset = copy(kind)
    frames = decode(dataset / VIDEO)
    encode(dataset / VIDEO, np.concatenate([frames, frames[:1]]))
    assert "1 of the frames of" in the_finding(audit(dataset), TOP, LAST[kind]).message


def test_the_video_of_one_episode_in_the_middle_is_named_where_each_has_its_own(copy):
    dataset = copy("growing")
    video = dataset / VIDEO.replace("file-000", "file-001")
    encode(video, decode(video)[:2])
    assert named(audit(dataset)) == {("run-000001", TOP)}


@pytest.mark.parametrize("foreign", [False, True])
def test_a_video_that_does_not_decode_is_named(copy, foreign):
    # Of lossless noise, most bytes decode to some pixel; that is what the digest is for.
    dataset = make_foreign(copy("lossy")) if foreign else copy("lossy")
    data = bytearray((dataset / VIDEO).read_bytes())
    start = data.index(b"mdat") + len(data) // 2
    data[start : start + 400] = b"\xff" * 400
    (dataset / VIDEO).write_bytes(data)
    message = the_finding(audit(dataset), TOP, "d-000002" if foreign else "run-000002").message
    assert "0 of the frames of its 5 rows were found" in message
    assert "does not decode" in message


def test_flipped_bytes_that_decode_to_other_pixels_are_found_by_the_digest(copy):
    dataset = copy("lerobot")
    data = bytearray((dataset / VIDEO).read_bytes())
    start = data.index(b"mdat") + len(data) // 2
    data[start : start + 4] = bytes(value ^ 85 for value in data[start : start + 4])
    (dataset / VIDEO).write_bytes(data)
    assert any(field == "digest" for _, field in named(audit(dataset)))


def test_a_video_cut_short_is_named(copy, kind):
    dataset = copy(kind)
    (dataset / VIDEO).write_bytes((dataset / VIDEO).read_bytes()[:1000])
    report = audit(dataset)
    assert "0 of the frames of its 5 rows" in the_finding(report, TOP, LAST[kind]).message
    assert "does not decode" in the_finding(report, TOP, LAST[kind]).message


def test_a_video_of_another_rate_is_named(copy, kind):
    dataset = copy(kind)
    encode(dataset / VIDEO, decode(dataset / VIDEO), fps=15)
    assert (LAST[kind], TOP) in named(audit(dataset))
    assert any("between two frames" in found.message for found in audit(dataset).findings)


def test_frames_of_another_size_are_named(copy, kind):
    dataset = copy(kind)
    encode(dataset / VIDEO, decode(dataset / VIDEO)[:, :, :16])
    messages = [found.message for found in audit(dataset).findings if found.field == TOP]
    assert any("frame 0 is (16, 16, 3) uint8, meta/info.json declares (16, 24) pixels" in one for one in messages)


def test_frames_declared_with_channels_first_are_no_fault(copy):
    dataset = copy("foreign")
    edit_feature(dataset, TOP, shape=[3, 16, 24], names=["channels", "height", "width"])
    assert audit(dataset).findings == ()


def test_images_with_channels_first_are_named(copy):
    dataset = make_foreign(copy("images"))
    picture = BytesIO()
    Image.fromarray(np.zeros((3, 16), np.uint8)).save(picture, "PNG")
    edit_rows(dataset, TOP, with_value(8, {"bytes": picture.getvalue(), "path": None}))
    messages = [found.message for found in audit(dataset).findings if found.episode == "d-000001"]
    assert any("frame 1 is (3, 16) uint8, meta/info.json declares (16, 24) pixels" in message for message in messages)


def test_a_video_that_is_one_frame_late_is_named_with_its_camera_and_true_place(copy):
    dataset = copy("lerobot")
    encode(dataset / VIDEO, np.roll(decode(dataset / VIDEO), 1, axis=0))
    report = audit(dataset)
    messages = [found.message for found in report.findings if (found.episode, found.field) == ("run-000001", TOP)]
    assert any("is one frame early, the frames recorded begin at 0.8000 s" in message for message in messages)
    assert ("run-000000", TOP) in named(report)
    # The last frame of the last episode is now the first of the file.
    assert ("run-000002", "digest") in named(report)


def test_a_range_that_is_one_frame_late_is_named_with_its_camera_and_true_place(copy):
    dataset = copy("lerobot")
    for name in ("from", "to"):
        edit_rows(dataset, f"videos/{TOP}/{name}_timestamp", lambda times: [time - 0.1 for time in times], RECORDS)
    edit_rows(dataset, f"videos/{TOP}/from_timestamp", with_value(0, 0.0), RECORDS)
    edit_rows(dataset, f"videos/{TOP}/to_timestamp", with_value(0, 0.7), RECORDS)
    messages = [found.message for found in audit(dataset).findings if found.episode == "run-000001"]
    assert any("begin at 0.7000 s, not at 0.6000 s" in message for message in messages)


def test_frames_one_off_within_an_episode_are_found_by_the_digest_alone(copy):
    dataset = copy("lerobot")
    frames = decode(dataset / VIDEO)
    encode(dataset / VIDEO, np.concatenate([np.roll(frames[:7], 1, axis=0), frames[7:]]))
    assert named(audit(dataset)) == {("run-000000", "digest")}


def test_an_image_that_does_not_decode_is_named(copy):
    dataset = make_foreign(copy("images"))
    edit_rows(dataset, TOP, lambda images: [*images[:8], {"bytes": b"none", "path": None}, *images[9:]])
    messages = [found.message for found in audit(dataset).findings if found.episode == "d-000001"]
    assert any("the image of row 1 does not decode" in message for message in messages)


def test_images_that_were_swapped_are_found_by_the_digest(copy):
    dataset = copy("images")
    edit_rows(dataset, TOP, lambda images: [images[1], images[0], *images[2:]])
    assert named(audit(dataset)) == {("run-000000", "digest")}


def test_images_that_cannot_be_read_are_named(copy):
    dataset = copy("images")
    table = pq.ParquetFile(dataset / DATA).read()
    pq.write_table(table.drop_columns([TOP]), dataset / DATA)
    assert (None, TOP) in named(audit(dataset))
