import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import zarr
from zarr.codecs import ZstdCodec

from demoloom.storage.zarr_access import read_rows
from demoloom.storage.zarr_layout import layout_for, place_in, read_layout
from demoloom.storage.zarr_writing import ArrayWriter, write_group


def written(folder, array, counts):
    """Write an array in blocks of these sizes in turn."""
    writer = ArrayWriter(folder, array)
    start = 0
    while start < len(array):
        count = counts[start % len(counts)]
        writer.write(array[start : start + count])
        start += count
    writer.close()
    return folder


def by_zarr(folder, array):
    """The same array as zarr itself writes it."""
    layout = layout_for(array)
    made = zarr.create_array(
        folder,
        shape=array.shape,
        dtype=array.dtype,
        chunks=layout.chunk_shape,
        shards=(layout.shard_rows, *array.shape[1:]),
        compressors=ZstdCodec(level=3, checksum=True),
        config={"write_empty_chunks": True},
    )
    for start in range(0, len(array), layout.shard_rows):
        made[start : start + layout.shard_rows] = array[start : start + layout.shard_rows]
    return folder


def shards(folder):
    files = [file for file in (folder / "c").rglob("*") if file.is_file()]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def noise(*shape):
    return np.random.default_rng(0).integers(0, 256, shape, np.uint8)


ARRAYS = {
    "frames": noise(70, 16, 24, 3),
    "one frame": noise(1, 5, 3, 3),
    "black frames": np.zeros((70, 4, 4, 3), np.uint8),
    "a whole chunk": noise(32, 4, 4, 3),
    "a whole shard": noise(1024, 2, 2, 3),
    "three shards": noise(2500, 2, 2, 3),
    "columns": noise(1100, 9).astype(np.float32) - 100,
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS.keys())
def test_the_files_are_those_that_zarr_itself_writes(tmp_path, array):
    ours, zarrs = written(tmp_path / "ours", array, [50]), by_zarr(tmp_path / "zarr", array)
    assert shards(ours) == shards(zarrs)
    assert json.loads((ours / "zarr.json").read_text()) == json.loads((zarrs / "zarr.json").read_text())


@pytest.mark.parametrize("counts", [[1], [7, 40], [3000]])
@pytest.mark.parametrize("name", ["three shards", "columns"])
def test_rows_come_back_whatever_the_blocks_they_came_in(tmp_path, name, counts):
    array = ARRAYS[name]
    folder = written(tmp_path / "a", array, counts)
    np.testing.assert_array_equal(read_rows(folder, 0, len(array)), array)
    np.testing.assert_array_equal(zarr.open_array(folder, mode="r")[:], array)


def test_what_is_in_the_buffer_of_the_caller_afterwards_does_not_matter(tmp_path):
    writer, buffer = ArrayWriter(tmp_path / "a", np.zeros((0, 2), np.float32)), np.zeros((1, 2), np.float32)
    for number in range(40):
        buffer[:] = number
        writer.write(buffer)
    writer.close()
    assert read_rows(tmp_path / "a", 0, 40)[:, 0].tolist() == list(range(40))


def test_black_frames_are_in_the_file(tmp_path):
    folder = written(tmp_path / "a", ARRAYS["black frames"], [70])
    layout, (data,) = read_layout(folder), shards(folder).values()
    assert [place_in(data[-layout.index_bytes :], number) is None for number in range(4)] == [False] * 3 + [True]


def test_no_more_than_a_chunk_is_in_memory(tmp_path):
    frame = noise(1, 480, 640, 3)  # 900 KiB, 9 to a chunk, 36 to a shard
    tracemalloc.start()
    writer = ArrayWriter(tmp_path / "a", frame)
    for _ in range(80):
        writer.write(frame)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    writer.close()
    assert peak < 2.5 * 9 * frame.nbytes  # the chunk, and it compressed: noise does not get smaller
    assert len(shards(tmp_path / "a")) == 3


def test_no_file_is_open_between_two_writes(tmp_path):
    before = len(list(Path("/proc/self/fd").iterdir()))
    writers = [ArrayWriter(tmp_path / str(number), noise(1, 4, 4, 3)) for number in range(20)]
    for writer in writers:
        writer.write(noise(40, 4, 4, 3))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_plain_zarr_reads_the_attributes_of_a_group(tmp_path):
    written(tmp_path / "g" / "a", noise(3, 4, 4, 3), [3])
    write_group(tmp_path / "g", {"task": 'push\n"it" \U0001f600'})
    group = zarr.open_group(tmp_path / "g", mode="r")
    assert dict(group.attrs) == {"task": 'push\n"it" \U0001f600'}
    assert list(group.array_keys()) == ["a"]
