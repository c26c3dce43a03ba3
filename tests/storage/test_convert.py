import shutil

import pytest

from demoloom.storage import ConfigError, StoreError, ZarrStore, open_dataset
from demoloom.storage.audit import audit
from demoloom.storage.convert import convert

from . import stored


@pytest.fixture
def store(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "zarr", spec)
    for index in (4, 0, 2):
        store.append(make_episode(index, length=index + 1))
    return store


def test_there_and_back_changes_nothing(tmp_path, store, same):
    convert(store, tmp_path / "lerobot", "lerobot")
    convert(open_dataset(tmp_path / "lerobot"), tmp_path / "back", "zarr")
    back = open_dataset(tmp_path / "back")
    assert back.spec == store.spec
    assert back.summaries() == store.summaries()
    for before, after in zip(store, back, strict=True):
        same(before, after)


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_only_the_ids_asked_for_are_copied_in_the_order_of_the_source(tmp_path, store, form):
    convert(store, tmp_path / "some", form, ids=["run-000004", "run-000000"])
    assert open_dataset(tmp_path / "some").ids() == ["run-000000", "run-000004"]


def test_an_id_that_is_not_there_is_named_and_nothing_is_written(tmp_path, store):
    with pytest.raises(StoreError, match="no episode 'nobody'"):
        convert(store, tmp_path / "some", "zarr", ids=["nobody"])
    assert not (tmp_path / "some").exists()


def test_an_unknown_format_is_named(tmp_path, store):
    with pytest.raises(ConfigError, match="one of lerobot, zarr, got 'hdf5'"):
        convert(store, tmp_path / "some", "hdf5")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("folder", "id"),
    [
        ("my data", "my-data-000000"),
        ("größe 数据", "gr-e-000000"),
        ("数据", "000000"),
        (".a", "a-000000"),
        ("b" * 250, f"{'b' * 180}-000000"),
    ],
)
def test_a_foreign_dataset_is_converted_whatever_its_folder_is_called(tmp_path, spec, make_episode, folder, id):
    path = tmp_path / folder
    stored.store(path, "lerobot", spec, [make_episode()])
    shutil.rmtree(path / "meta/demoloom")
    convert(open_dataset(path), tmp_path / "out", "zarr")
    assert open_dataset(tmp_path / "out").ids() == [id]
    assert audit(path).findings == ()
