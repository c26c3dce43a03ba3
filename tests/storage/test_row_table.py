import numpy as np
import pytest

from demoloom.storage import StoreError
from demoloom.storage.row_table import StoredFrames, join_episodes, read_table

from .stored import CODECS, store


@pytest.fixture(params=CODECS)
def reader(request, tmp_path, spec, make_episode):
    return store(tmp_path / "data", request.param, spec, [make_episode(0, 5), make_episode(1, 3)])


def assert_equal(left, right):
    assert left.columns.keys() == right.columns.keys()
    for name, values in left.columns.items():
        np.testing.assert_array_equal(values[:], right[name][:], err_msg=name)
    assert left.timeline.lengths.tolist() == right.timeline.lengths.tolist()
    assert left.tasks == right.tasks


@pytest.mark.parametrize("memory_bytes", [None, 0, 3000])
def test_a_table_holds_all_rows_end_to_end_wherever_the_frames_lie(reader, make_episode, memory_bytes):
    table = read_table(reader, memory_bytes=memory_bytes)
    assert len(table) == 8
    assert isinstance(table["observation.images.top"], StoredFrames) == (memory_bytes is not None)
    assert_equal(table, join_episodes(reader.spec, [make_episode(0, 5), make_episode(1, 3)]))


def test_frames_on_disk_are_indexed_as_arrays_are(reader):
    here = read_table(reader)["observation.images.top"]
    there = read_table(reader, memory_bytes=0)["observation.images.top"]
    assert there.shape == here.shape
    rows = np.array([[7, 0], [0, 5]])
    pixels = (np.array([0, 5, 9]), np.array([1, 1, 2]))
    for index in (3, slice(1, 7, 2), rows, (rows, slice(None), 2), (rows, rows, rows, 0), (slice(1, 7, 2), *pixels)):
        np.testing.assert_array_equal(there[index], here[index])


def test_a_table_of_some_episodes_keeps_the_order_of_the_dataset(reader):
    assert read_table(reader, ["run-000001"])["action"][:, 1].tolist() == [1, 1, 1]
    assert read_table(reader, ["run-000001", "run-000000"])["action"][:, 1].tolist() == [0] * 5 + [1] * 3


def test_an_episode_that_is_not_there_is_named(reader):
    with pytest.raises(StoreError, match="no episode 'nobody'"):
        read_table(reader, ["nobody"])


def test_no_episodes_make_an_empty_table(reader):
    table = read_table(reader, [])
    assert len(table) == 0
    assert table.tasks == ()
