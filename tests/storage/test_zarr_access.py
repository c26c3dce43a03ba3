import numpy as np
import pytest
import zarr

from demoloom.storage import StoreError
from demoloom.storage.zarr_access import read_rows
from demoloom.storage.zarr_writing import ArrayWriter

#: Row t is (t, -t); chunks of 32 rows, shards of 1024.
ROWS = np.stack([np.arange(1100, dtype=np.float32), -np.arange(1100, dtype=np.float32)], 1)


@pytest.fixture
def folder(tmp_path):
    writer = ArrayWriter(tmp_path / "a", ROWS)
    writer.write(ROWS)
    writer.close()
    return tmp_path / "a"


@pytest.mark.parametrize(("start", "stop"), [(0, 1100), (5, 6), (31, 33), (32, 64), (1020, 1030), (1099, 1100), (9, 9)])
def test_any_rows_are_those_that_were_written(folder, start, stop):
    np.testing.assert_array_equal(read_rows(folder, start, stop), ROWS[start:stop])


def test_rows_beyond_the_end_are_refused(folder):
    with pytest.raises(StoreError, match=r"a has 1100 rows, not 1101; restore it"):
        read_rows(folder, 0, 1101)


def test_a_lost_shard_is_named_and_the_others_are_read(folder):
    (folder / "c/1/0").unlink()
    assert len(read_rows(folder, 0, 1024)) == 1024
    with pytest.raises(StoreError, match=r"a/c/1/0 is missing; restore it from a copy; `demoloom validate --repair`"):
        read_rows(folder, 0, 1100)


def test_a_changed_byte_is_named_with_its_chunk(folder):
    file = folder / "c/0/0"
    data = bytearray(file.read_bytes())
    data[40] ^= 255
    file.write_bytes(data)
    assert read_rows(folder, 32, 1100)[0, 0] == 32
    with pytest.raises(StoreError, match=r"chunk 0 of .*a/c/0/0 is damaged"):
        read_rows(folder, 0, 1)


@pytest.mark.parametrize("length", [0, 3, 100, -1])
def test_a_file_that_was_cut_is_named(folder, length):
    file = folder / "c/1/0"
    file.write_bytes(file.read_bytes()[:length])
    with pytest.raises(StoreError, match=r"chunk 0 of .*a/c/1/0 is damaged \(the index at its end is not whole\)"):
        read_rows(folder, 1024, 1025)


def test_rows_that_plain_zarr_changed_and_those_it_left_out_as_zeros_are_read(folder):
    zarr.open_array(folder, mode="r+")[64:96] = 0
    assert read_rows(folder, 63, 97)[:, 0].tolist() == [63, *[0] * 32, 96]
