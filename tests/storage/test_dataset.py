import pytest

from demoloom.storage import StoreError, ZarrStore, open_dataset


def test_a_folder_is_opened_by_what_lies_in_it(tmp_path, spec):
    ZarrStore.create(tmp_path / "s", spec)
    assert isinstance(open_dataset(tmp_path / "s"), ZarrStore)


def test_a_folder_without_a_dataset_is_named(tmp_path):
    with pytest.raises(StoreError, match="there is no dataset at"):
        open_dataset(tmp_path)
    with pytest.raises(StoreError, match="nowhere"):
        open_dataset(tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []
