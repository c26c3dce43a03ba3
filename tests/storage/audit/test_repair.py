import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow.parquet as pq
import pytest

from demoloom.storage import open_dataset
from demoloom.storage.audit import audit, repair
from demoloom.storage.lerobot_store import LeRobotStore, locked
from demoloom.storage.norm_stats import vector_stats
from demoloom.storage.testing import numbered_episode, numbered_spec

from .damage import DATA, VIDEO, edit_feature, edit_json, edit_rows, edit_stats, named

KINDS = ["lerobot", "images", "lossy", "growing", "foreign"]


@pytest.fixture(params=KINDS)
def dataset(copy, request):
    return copy(request.param)


def test_a_clean_dataset_is_left_alone(dataset):
    assert repair(dataset).done == ()
    assert not (dataset.parent / "quarantine").exists()


def test_counts_are_corrected_and_the_original_kept(dataset):
    edit_json(dataset / "meta/info.json", total_episodes=9, total_frames=1, splits={"train": "0:9"})
    repaired = repair(dataset)
    assert repaired.done == ("corrected meta/info.json",)
    assert audit(dataset).findings == repaired.report.findings == ()
    info = json.loads((dataset / "meta/info.json").read_text())
    assert (info["total_episodes"], info["total_frames"], info["splits"]) == (3, 15, {"train": "0:3"})
    kept = json.loads((dataset.parent / "quarantine/d/meta/info.json").read_text())
    assert kept["total_episodes"] == 9


def test_statistics_are_computed_anew_from_rows_and_frames(dataset):
    before = json.loads((dataset / "meta/stats.json").read_text())
    edit_stats(dataset, "action", max=[99.0, 99.0], q50=[50.0, 50.0])
    edit_stats(dataset, "observation.images.top", mean=[[[0.9]], [[0.1]], [[0.9]]])
    assert repair(dataset).report.findings == ()
    after = json.loads((dataset / "meta/stats.json").read_text())
    for stat, value in before["action"].items():
        np.testing.assert_allclose(after["action"][stat], value, err_msg=stat)
    assert after["observation.state"] == before["observation.state"]


def test_statistics_that_cannot_be_read_are_computed_anew(dataset):
    (dataset / "meta/stats.json").write_text("{")
    assert repair(dataset).report.findings == ()
    actions = np.array(pq.ParquetFile(dataset / DATA).read(["action"])["action"].to_pylist())
    stats = json.loads((dataset / "meta/stats.json").read_text())["action"]
    if len(actions) == 15:  # all rows are in one file
        assert stats["q99"] == vector_stats(actions)["q99"].tolist()


def test_a_file_that_no_episode_refers_to_is_moved_and_not_deleted(dataset):
    left = dataset / "data/chunk-000/file-009.parquet"
    left.write_bytes(b"left")
    assert repair(dataset).report.findings == ()
    assert not left.exists()
    assert (dataset.parent / "quarantine/d/data/chunk-000/file-009.parquet").read_bytes() == b"left"


def test_what_is_in_the_quarantine_already_is_kept(dataset):
    left = dataset / "data/chunk-000/file-009.parquet"
    for content in (b"first", b"second"):
        left.write_bytes(content)
        repair(dataset)
    kept = dataset.parent / "quarantine/d/data/chunk-000"
    assert (kept / "file-009.parquet").read_bytes() == b"first"
    assert (kept / "file-009.parquet.1").read_bytes() == b"second"


def test_a_torn_file_of_records_beyond_those_counted_is_moved(dataset):
    torn = dataset / "meta/episodes/chunk-000/file-009.parquet"
    torn.write_bytes(b"PAR1")
    assert repair(dataset).report.findings == ()
    assert not torn.exists()


def test_rows_are_stamped_anew_only_if_asked(copy):
    dataset = copy("lerobot")
    edit_rows(dataset, "timestamp", lambda stamps: [stamp + 0.005 * (-1) ** at for at, stamp in enumerate(stamps)])
    assert repair(dataset).report.errors == 3
    repaired = repair(dataset, retime=True)
    assert repaired.done[0] == f"stamped the rows in {DATA} at 10 fps"
    assert repaired.report.findings == ()
    assert audit(dataset).findings == ()
    stamps = pq.ParquetFile(dataset / DATA).read(["timestamp"])["timestamp"].to_pylist()
    np.testing.assert_allclose(stamps[7:10], [0.0, 0.1, 0.2])
    assert len(open_dataset(dataset).read("run-000001")) == 3


def test_stamps_that_follow_another_rate_are_never_changed(copy):
    dataset = copy("foreign")
    edit_rows(dataset, "timestamp", lambda stamps: [stamp / 3 for stamp in stamps])
    assert {field for _, field in named(repair(dataset, retime=True).report)} == {"timestamp"}


@pytest.mark.parametrize("files", [["data"], ["data", "meta/episodes"], ["videos", "data", "meta/episodes"]])
def test_an_episode_that_a_killed_writer_did_not_count_in_is_moved_away(copy, make_episode, files):
    dataset = copy("growing")
    left = {}
    with LeRobotStore.open(dataset) as store:
        before = (dataset / "meta/info.json").read_bytes()
        stats = (dataset / "meta/stats.json").read_bytes()
        pixels = (dataset / "meta/demoloom/pixels-15.npy").read_bytes()
        store.append(make_episode(3))
    (dataset / "meta/info.json").write_bytes(before)
    (dataset / "meta/stats.json").write_bytes(stats)
    (dataset / "meta/demoloom/pixels-15.npy").write_bytes(pixels)
    for file in sorted(dataset.rglob("*file-003*")):
        if any(str(file.relative_to(dataset)).startswith(name) for name in files):
            left[file] = file.read_bytes()
        else:
            file.unlink()
    found = audit(dataset)
    assert found.errors == 0
    assert found.warnings > 0
    repaired = repair(dataset)
    assert repaired.report.findings == ()
    for file, content in left.items():
        assert (dataset.parent / "quarantine/d" / file.relative_to(dataset)).read_bytes() == content
    assert len(open_dataset(dataset)) == 3


@pytest.mark.parametrize("damage", ["missing", "wrong", "torn"])
def test_the_pixels_that_a_writer_goes_on_counting_are_counted_anew(copy, make_episode, damage):
    dataset = copy("growing")
    file = dataset / "meta/demoloom/pixels-15.npy"
    counts = np.load(file)
    file.unlink()
    if damage == "wrong":
        np.save(file, counts + 1)
    elif damage == "torn":
        file.write_bytes(b"\x93NUMPY")
    assert audit(dataset).warnings == 1
    assert repair(dataset).report.findings == ()
    np.testing.assert_array_equal(np.load(file), counts)
    with LeRobotStore.open(dataset) as store:
        assert store.append(make_episode(3))
    assert audit(dataset).findings == ()


def test_columns_that_another_tool_declared_otherwise_are_declared_as_the_spec_says(copy):
    dataset = copy("lerobot")
    before = (dataset / "meta/info.json").read_text()
    edit_feature(dataset, "action", shape=[3], names=["x", "y", "z"], dtype="float64")
    assert repair(dataset).report.findings == ()
    assert json.loads((dataset / "meta/info.json").read_text()) == json.loads(before)


def test_what_would_need_data_that_is_not_there_stays_a_finding(copy):
    dataset = copy("lerobot")
    edit_rows(dataset, "action", lambda actions: [[float("nan"), 0.0], *actions[1:]])
    (dataset / VIDEO).unlink()
    edit_json(dataset / "meta/info.json", total_frames=2)
    repaired = repair(dataset)
    assert repaired.done == ("corrected meta/info.json",)
    assert {("run-000000", "action"), ("run-000000", "observation.images.top")} <= named(repaired.report)


def test_torn_episodes_of_a_zarr_store_are_moved_and_the_others_stay(copy):
    store = copy("zarr")
    (store / "episodes/run-000001/zarr.json").write_text("{")
    shutil.rmtree(store / "episodes/run-000002/columns/c")
    repaired = repair(store)
    assert len(repaired.done) == 2
    assert repaired.report.findings == ()
    assert open_dataset(store).ids() == ["run-000000"]
    assert (store.parent / "quarantine/d/episodes/run-000001/zarr.json").read_text() == "{"


def test_repairs_and_writers_wait_for_each_other(copy):
    dataset = copy("growing")
    store = LeRobotStore.open(dataset)
    spare = "data/chunk-000/file-003.parquet"
    with ThreadPoolExecutor(3) as threads, locked(dataset):
        (dataset / spare).write_bytes(b"about to be counted")
        repairs = [threads.submit(repair, dataset) for _ in range(2)]
        writing = threads.submit(store.append, numbered_episode(numbered_spec(), 3, 4))
        time.sleep(0.3)
        assert (dataset / spare).exists()
        assert not any(work.done() for work in repairs)
        assert not writing.done()
    assert writing.result()
    for work in repairs:
        work.result()
    store.close()
    assert len(open_dataset(dataset)) == 4
    assert audit(dataset).findings == ()
