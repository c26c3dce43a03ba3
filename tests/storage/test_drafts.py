import gc
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from demoloom.storage import Camera, StoreError, ZarrStore, open_dataset
from demoloom.storage import recorder as recorder_module
from demoloom.storage.drafts import copy_of, read_blocks, with_edit, write_drafts
from demoloom.storage.episode import Rows


@pytest.fixture
def store(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "zarr", spec)
    store.append(make_episode(0))
    store.append(make_episode(1))
    return store


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_a_copy_is_the_same_whatever_the_blocks(tmp_path, store, spec, same, form, monkeypatch):
    monkeypatch.setattr(recorder_module, "_BLOCK_BYTES", 3 * (16 * 24 * 3 + 16 * 16 * 3))
    assert [len(rows) for rows in read_blocks(store, "run-000000", 0, 7)] == [3, 3, 1]
    write_drafts(tmp_path / "copy", form, spec, [copy_of(store, id) for id in store.ids()])
    for before, after in zip(store, open_dataset(tmp_path / "copy"), strict=True):
        same(before, after)


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_a_part_of_an_episode_has_its_rows_from_start_to_stop(tmp_path, store, spec, form):
    write_drafts(tmp_path / "part", form, spec, [copy_of(store, "run-000001", start=2, stop=5)])
    part = open_dataset(tmp_path / "part").read("run-000001")
    assert part.state.tolist() == [[1, 2], [1, 3], [1, 4]]
    np.testing.assert_array_equal(part.images["top"], store.read("run-000001").images["top"][2:5])


def test_the_same_draft_twice_is_stored_once_and_another_of_its_id_is_refused(tmp_path, store, spec):
    draft = copy_of(store, "run-000000")
    assert write_drafts(tmp_path / "once", "zarr", spec, [draft, draft]) == 1
    other = replace(copy_of(store, "run-000001"), id="run-000000")
    with pytest.raises(StoreError, match="'run-000000' is in the dataset with other content"):
        write_drafts(tmp_path / "both", "zarr", spec, [draft, other])
    assert not (tmp_path / "both").exists()


def test_every_edit_is_kept_in_order():
    once = with_edit({"stage": "generate"}, "resample", fps=5)
    assert with_edit(once, "rename", id_before="a") == {
        "stage": "generate",
        "edits": [{"edit": "resample", "fps": 5}, {"edit": "rename", "id_before": "a"}],
    }


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_memory_does_not_grow_with_the_length_of_an_episode(tmp_path, spec, form, monkeypatch):
    monkeypatch.setattr(recorder_module, "_BLOCK_BYTES", 256 << 10)
    wide = replace(spec, cameras=(Camera("top", 64, 64),))
    source = ZarrStore.create(tmp_path / "source", wide)
    for length in (50, 2400, 4800):
        with source.record(f"rows-{length}", index=0, seed=0, task="wait") as recorder:
            for _ in range(length // 50):
                recorder.write(_still(50))
            recorder.commit("failure", "timeout")
    peaks = {}
    for length in (50, 2400, 4800):  # the first for what is imported once
        tracemalloc.start()
        write_drafts(tmp_path / f"copy-{length}", form, wide, [copy_of(source, f"rows-{length}")])
        peaks[length] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # Where 2400 rows, 29 MB of frames, have filled the queue before the encoder, as many more add nothing.
    assert peaks[4800] - peaks[2400] < 2400 * 64 * 64 * 3 / 5


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_memory_does_not_grow_with_the_number_of_episodes(tmp_path, spec, form):
    wide = replace(spec, cameras=(Camera("top", 64, 64),))
    source = ZarrStore.create(tmp_path / "source", wide)
    for number in range(24):
        with source.record(f"run-{number}", index=number, seed=0, task="wait") as recorder:
            recorder.write(_still(50))
            recorder.commit("failure", "timeout")
    peaks = {}
    for count in (2, 12, 24):  # the first for what is imported once
        tracemalloc.start()
        drafts = (copy_of(source, f"run-{number}") for number in range(count))
        write_drafts(tmp_path / f"copy-{count}", form, wide, drafts)
        peaks[count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    # The frames of 12 episodes more are 7 MB.
    assert peaks[24] - peaks[12] < 12 * 50 * 64 * 64 * 3 / 5


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_the_rows_of_an_episode_are_let_go_once_it_is_written(tmp_path, store, spec, form):
    gc.collect()
    before = num_rows_alive()
    gc.disable()  # what waits for a collection is in memory for as long
    try:
        write_drafts(tmp_path / "copy", form, spec, [copy_of(store, id) for id in store.ids()])
        assert num_rows_alive() == before
    finally:
        gc.enable()


def num_rows_alive():
    # Not isinstance, which asks a thing for its class: a deprecated one of torch warns then.
    return sum(issubclass(type(thing), Rows) for thing in gc.get_objects())


def _still(length):
    zeros = np.zeros(length, np.float32)
    return Rows(
        images={"top": np.zeros((length, 64, 64, 3), np.uint8)},
        state=np.zeros((length, 2), np.float32),
        action=np.zeros((length, 2), np.float32),
        reward=zeros,
        success=np.zeros(length, bool),
        score=zeros,
        trust=zeros + 1,
        labels={"pose": np.zeros((length, 1), np.float32)},
    )
