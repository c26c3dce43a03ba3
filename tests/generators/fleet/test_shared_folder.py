import os

import pytest

from demoloom.generators.fleet.shared_folder import marked_folder, refuse_unshared
from demoloom.generators.fleet.worker import WorkerShell
from demoloom.storage.errors import StoreError
from demoloom.storage.zarr_store import is_store


def test_a_mark_is_seen_while_the_block_runs_and_gone_after(tmp_path):
    with marked_folder(tmp_path / "new" / "store") as mark:
        refuse_unshared(mark)
    assert list((tmp_path / "new" / "store").iterdir()) == []


def test_the_mark_of_a_driver_that_was_killed_goes(tmp_path):
    left = tmp_path / ".tmp-shared-left"
    left.touch()
    os.utime(left, (0, 0))
    with marked_folder(tmp_path):
        assert not left.exists()


def test_a_worker_that_does_not_see_the_drivers_folder_refuses_to_start(counting_plan, tmp_path):
    elsewhere = tmp_path / "driver" / "store" / ".tmp-shared-x"
    result = WorkerShell([counting_plan()], tmp_path / "store", 3).start(0, elsewhere, 0.0)
    assert isinstance(result, StoreError)
    assert f"does not see {elsewhere.parent}" in str(result)
    assert "storage that all nodes of the cluster share" in str(result)
    assert not is_store(tmp_path / "store")


def test_a_folder_with_a_mark_is_still_one_for_a_new_store(counting_plan, tmp_path):
    with marked_folder(tmp_path / "store") as mark:
        assert WorkerShell([counting_plan()], tmp_path / "store", 3).start(0, mark, 0.0) == []
    assert is_store(tmp_path / "store")


@pytest.fixture(autouse=True)
def _gpus_stay_visible(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
