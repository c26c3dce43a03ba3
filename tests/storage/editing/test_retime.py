import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demoloom.storage import ConfigError, StoreError, open_dataset
from demoloom.storage.atomic import read_json, write_json
from demoloom.storage.editing.retime import every, resample, restamp
from demoloom.storage.editing.uneven import open_uneven
from demoloom.storage.video import ImageCodec


@pytest.fixture
def foreign(make_dataset, tmp_path):
    """Two episodes of 7 rows as another tool leaves them: with stamps of its own, and a rate that may be wrong."""

    def foreign(times=None, fps=10, codec=None):
        make_dataset("source", [0, 1], "lerobot", codec=codec)
        path = tmp_path / "source"
        shutil.rmtree(path / "meta/demoloom")
        write_json(path / "meta/info.json", read_json(path / "meta/info.json") | {"fps": fps})
        if times is not None:
            file = path / "data/chunk-000/file-000.parquet"
            table = pq.read_table(file)
            column = table.column_names.index("timestamp")
            pq.write_table(table.set_column(column, "timestamp", pa.array([*times, *times], pa.float32())), file)
        return path

    return foreign


def assert_all_rows(path, make_episode, fps):
    after = open_dataset(path)
    assert after.spec.fps == fps
    assert len(after) == 2
    for index, episode in enumerate(after):
        before = make_episode(index)
        for name in ("state", "action", "reward", "success"):
            np.testing.assert_array_equal(getattr(episode, name), getattr(before, name))
        for name, frames in episode.images.items():
            np.testing.assert_array_equal(frames, before.images[name])


WALL_CLOCK = np.arange(7) / 10 + np.array([0, 5, -5, 5, 5, -5, 0]) / 1000


@pytest.mark.parametrize("codec", [None, ImageCodec()])
@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_a_wall_clock_is_refused_and_restamped_when_told_so(tmp_path, foreign, make_episode, form, codec):
    path = foreign(WALL_CLOCK, codec=codec)
    with pytest.raises(StoreError, match=r"row 1 of episode 0 is stamped 0\.1050 s.*demoloom retime"):
        list(open_dataset(path))
    assert restamp(open_uneven(path), tmp_path / "after", form, fps=10) == 2
    assert_all_rows(tmp_path / "after", make_episode, fps=10)


def test_a_wall_clock_resampled_at_its_own_rate_keeps_every_frame_and_action(tmp_path, foreign, make_episode):
    resample(open_uneven(foreign(WALL_CLOCK)), tmp_path / "after", "zarr", fps=10)
    for index, episode in enumerate(open_dataset(tmp_path / "after")):
        before = make_episode(index)
        np.testing.assert_array_equal(episode.images["top"], before.images["top"])
        np.testing.assert_array_equal(episode.action, before.action)
        # Row 2 was recorded 5 ms early: its state is moved on by 5 of the 110 ms to row 3.
        np.testing.assert_allclose(episode.state[2, 1], 2 + 5 / 110, rtol=1e-4)


def test_data_at_10_fps_declared_as_5_becomes_10(tmp_path, foreign, make_episode):
    path = foreign(fps=5)  # stamps and videos are still at 10
    with pytest.raises(StoreError, match=r"at 5 fps it must be"):
        list(open_dataset(path))
    restamp(open_uneven(path), tmp_path / "after", "lerobot", fps=10)
    assert_all_rows(tmp_path / "after", make_episode, fps=10)


@pytest.mark.parametrize(("fps", "step"), [(10, 1), (5, 2)])
def test_resampling_goes_by_the_clock_not_by_the_declared_rate(tmp_path, foreign, make_episode, fps, step):
    resample(open_uneven(foreign(fps=5)), tmp_path / "after", "zarr", fps=fps)  # stamped at 10
    for index, episode in enumerate(open_dataset(tmp_path / "after")):
        np.testing.assert_array_equal(episode.images["top"], make_episode(index).images["top"][::step])


def test_a_rate_that_was_declared_wrongly_throughout_is_corrected(tmp_path, make_dataset, make_episode):
    make_dataset("source", [0, 1], "lerobot")
    restamp(open_uneven(tmp_path / "source"), tmp_path / "after", "lerobot", fps=30)
    assert_all_rows(tmp_path / "after", make_episode, fps=30)
    for episode in open_dataset(tmp_path / "after"):
        assert episode.lineage["edits"] == [{"edit": "restamp", "fps": 30, "fps_before": 10}]


def test_a_clock_that_stands_still_cannot_be_resampled(tmp_path, foreign):
    path = foreign([0, 0.1, 0.2, 0.2, 0.4, 0.5, 0.6])
    with pytest.raises(StoreError, match=r"row 3 of episode 'source-000000' is not stamped later than the row before"):
        resample(open_uneven(path), tmp_path / "after", "zarr", fps=5)
    assert not (tmp_path / "after").exists()


def test_half_the_rate_has_every_second_frame(tmp_path, make_dataset, make_episode):
    source = make_dataset("source", [0])
    resample(source, tmp_path / "after", "lerobot", fps=5)
    after = open_dataset(tmp_path / "after").read("run-000000")
    np.testing.assert_array_equal(after.images["wrist"], make_episode(0).images["wrist"][::2])
    assert after.success.tolist() == [False, False, False, True]


def test_every_third_row_of_a_rate_that_three_does_not_divide_is_refused(make_dataset):
    source = make_dataset("source", [0])
    with pytest.raises(
        ConfigError,
        match=r"every must divide the 10 rows a second .*, got 3; take 2, or .*`demoloom retime --resample 3`",
    ):
        every(source, source.ids(), 3)
    spec, drafts = every(source, source.ids(), 5)
    assert spec.fps == 2
    assert [len(rows) for draft in drafts for rows in draft.blocks()] == [2]


@pytest.mark.parametrize("retime", [restamp, resample])
def test_no_rate_is_refused(tmp_path, make_dataset, retime):
    with pytest.raises(ConfigError, match="fps must be a whole number of 1 or more, got 0"):
        retime(make_dataset("source", [0]), tmp_path / "after", "zarr", fps=0)


def test_a_video_with_fewer_frames_than_rows_is_refused(tmp_path, foreign):
    path = foreign(WALL_CLOCK)
    file = path / "meta/episodes/chunk-000/file-000.parquet"
    table = pq.read_table(file)
    name = "videos/observation.images.top/to_timestamp"
    pq.write_table(table.set_column(table.column_names.index(name), name, pa.array([0.6, 1.4])), file)
    with pytest.raises(StoreError, match=r"cannot read frames 0 .. 6 .*there are fewer"):
        restamp(open_uneven(path), tmp_path / "after", "zarr", fps=10)


@pytest.mark.parametrize("fps", [29.97, 0, -5, 0.5, float("nan"), float("inf")])
@pytest.mark.parametrize("rewrite", [restamp, resample])
def test_a_rate_that_is_no_whole_number_is_refused(tmp_path, make_dataset, rewrite, fps):
    source = make_dataset("s", [0])
    with pytest.raises(ConfigError, match=f"fps must be a whole number of 1 or more, got {fps}; take the nearest"):
        rewrite(source, tmp_path / "out", "zarr", fps)
