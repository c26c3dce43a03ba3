import json

import numpy as np
import pytest

from demoloom.storage import StoreError
from demoloom.storage.zarr_layout import ArrayLayout, Place, layout_for, pack_index, place_in, read_layout

SMALL = ArrayLayout((7, 2), np.dtype("<f4"), chunk_rows=2, shard_rows=6)


def write_metadata(folder, layout=SMALL, **changes):
    folder.mkdir()
    (folder / "zarr.json").write_text(json.dumps({**layout.metadata(), **changes}))


def test_small_frames_are_32_to_a_chunk_and_32_chunks_to_a_shard():
    layout = layout_for(np.zeros((5, 96, 96, 3), np.uint8))
    assert (layout.chunk_rows, layout.shard_rows) == (32, 32 * 32)
    assert layout.shape == (0, 96, 96, 3)


def test_chunks_of_large_frames_stay_under_8_mib_and_shards_under_32():
    layout = layout_for(np.zeros((0, 480, 640, 3), np.uint8))  # 900 KiB each
    assert (layout.chunk_rows, layout.shard_rows) == (9, 4 * 9)


def test_a_frame_larger_than_a_chunk_may_be_is_a_chunk():
    layout = layout_for(np.zeros((0, 4000, 4000, 3), np.uint8))
    assert (layout.chunk_rows, layout.shard_rows) == (1, 1)


def test_the_last_shard_may_be_shorter_and_is_a_file_of_its_own(tmp_path):
    assert SMALL.chunks_per_shard == 3
    assert SMALL.shard_file(tmp_path, 1) == tmp_path / "c" / "1" / "0"


def test_an_index_says_where_each_chunk_lies_and_which_are_not_there():
    index = pack_index([Place(0, 10), Place(10, 7)], SMALL)
    assert len(index) == SMALL.index_bytes == 3 * 16 + 4
    assert [place_in(index, number) for number in range(3)] == [(0, 10), (10, 7), None]


@pytest.mark.parametrize("byte", [0, 20, 51])
def test_an_index_with_a_changed_byte_is_refused(byte):
    index = bytearray(pack_index([Place(0, 10)], SMALL))
    index[byte] ^= 1
    with pytest.raises(ValueError, match="not whole"):
        place_in(bytes(index), 0)


@pytest.mark.parametrize("length", [0, 3, 51])
def test_an_index_that_was_cut_is_refused(length):
    with pytest.raises(ValueError, match="not whole"):
        place_in(pack_index([Place(0, 10)], SMALL)[:length], 0)


def test_a_layout_is_read_as_it_was_written(tmp_path):
    write_metadata(tmp_path / "a")
    assert read_layout(tmp_path / "a") == SMALL


SHARDING = SMALL.metadata()["codecs"][0]
INNER = SHARDING["configuration"]
OTHERS = {
    "no shards": {"codecs": INNER["codecs"]},
    "another codec": {"codecs": [{**SHARDING, "name": "zstd"}]},
    "index first": {"codecs": [{**SHARDING, "configuration": {**INNER, "index_location": "start"}}]},
    "index unchecked": {
        "codecs": [{**SHARDING, "configuration": {**INNER, "index_codecs": INNER["index_codecs"][:1]}}]
    },
    "big endian": {
        "codecs": [
            {
                **SHARDING,
                "configuration": {
                    **INNER,
                    "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, INNER["codecs"][1]],
                },
            }
        ]
    },
    "another dtype": {"data_type": "int16"},
    "another shape": {"shape": [7, 3]},
    "no shape": {"shape": []},
    "a shape of text": {"shape": ["seven", 2]},
    "shards of parts of chunks": {"chunk_grid": {"configuration": {"chunk_shape": [5, 2]}}},
}


@pytest.mark.parametrize("changes", OTHERS.values(), ids=OTHERS.keys())
def test_an_array_of_another_layout_is_refused_by_name(tmp_path, changes):
    write_metadata(tmp_path / "a", **changes)
    with pytest.raises(StoreError, match=f"{tmp_path / 'a'} is not laid out as demoloom writes arrays"):
        read_layout(tmp_path / "a")
