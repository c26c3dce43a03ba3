import json
import shutil

import numpy as np
import pytest
import zarr

from demoloom.storage.audit import audit
from demoloom.storage.columns import names_of
from demoloom.storage.testing import numbered_spec

from .damage import edit_json, named, the_finding


@pytest.fixture
def store(copy):
    return copy("zarr")


def column_of(name):
    """Where a column begins in the array of all columns."""
    found = 0
    for other, dims in names_of(numbered_spec()).items():
        if other == name:
            return found
        found += len(dims)
    raise KeyError(name)


def set_number(store, id, column, step, value):
    """Change a number as a careless tool would, without a new digest."""
    zarr.open_group(store / "episodes" / id, mode="r+")["columns"][step, column_of(column)] = value


def test_nan_is_named_by_episode_field_and_step(store):
    set_number(store, "run-000001", "action", 2, np.nan)
    finding = the_finding(audit(store), "action", "run-000001")
    assert "'x' is nan at step 2" in finding.message


def test_an_infinite_state_is_named(store):
    set_number(store, "run-000002", "observation.state", 4, np.inf)
    assert "'x/mm' is inf at step 4" in the_finding(audit(store), "observation.state", "run-000002").message


def test_an_action_out_of_bounds_is_named(store):
    set_number(store, "run-000000", "action", 3, 100.5)
    finding = the_finding(audit(store), "action", "run-000000")
    assert "'x' is 100.5 at step 3, outside 0.0 .. 100.0" in finding.message


def test_a_score_above_one_is_named(store):
    set_number(store, "run-000000", "next.score", 3, 1.5)
    assert "is 1.5 at step 3" in the_finding(audit(store), "next.score", "run-000000").message


def test_a_changed_pixel_is_found_by_the_digest(store):
    frames = zarr.open_group(store / "episodes/run-000000", mode="r+")["observation.images.top"]
    frames[3, 0, 0, 0] = 255 - frames[3, 0, 0, 0]
    assert named(audit(store)) == {("run-000000", "digest")}


def test_frames_one_off_are_found_by_the_digest(store):
    frames = zarr.open_group(store / "episodes/run-000000", mode="r+")["observation.images.top"]
    frames[:] = np.roll(frames[:], 1, axis=0)
    assert "shifted" in the_finding(audit(store), "digest", "run-000000").message


def test_a_torn_shard_is_named(store):
    (shard,) = [file for file in (store / "episodes/run-000001/observation.images.top/c").rglob("*") if file.is_file()]
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 255
    shard.write_bytes(data)
    assert named(audit(store)) == {("run-000001", "arrays")}


def test_a_shard_cut_short_is_named(store):
    (shard,) = [file for file in (store / "episodes/run-000001/columns/c").rglob("*") if file.is_file()]
    shard.write_bytes(shard.read_bytes()[:-10])
    assert named(audit(store)) == {("run-000001", "arrays")}


def test_a_missing_shard_which_would_read_as_zeros_is_named(store):
    (shard,) = [file for file in (store / "episodes/run-000001/observation.images.top/c").rglob("*") if file.is_file()]
    shard.unlink()
    assert "is missing" in the_finding(audit(store), "arrays", "run-000001").message


def test_fewer_frames_than_rows_are_named(store):
    zarr.open_group(store / "episodes/run-000000", mode="r+")["observation.images.top"].resize((6, 16, 24, 3))
    finding = the_finding(audit(store), "observation.images.top", "run-000000")
    assert (
        "it has shape [6, 16, 24, 3] and dtype uint8, expected [7, 16, 24, 3] and uint8 for 7 rows" in finding.message
    )


def test_frames_with_channels_first_are_named(store):
    group = zarr.open_group(store / "episodes/run-000000", mode="r+")
    frames = group["observation.images.top"][:].transpose(0, 3, 1, 2)
    group.create_array("observation.images.top", data=np.ascontiguousarray(frames), overwrite=True)
    assert "[7, 3, 16, 24]" in the_finding(audit(store), "observation.images.top", "run-000000").message


def test_a_missing_camera_is_named(store):
    (store / "episodes/run-000000/observation.images.top/zarr.json").unlink()
    assert "cannot be read" in the_finding(audit(store), "observation.images.top", "run-000000").message


def test_a_folder_that_is_no_episode_is_named(store):
    (store / "episodes/half").mkdir()
    assert "no whole episode" in the_finding(audit(store), "zarr.json", "half").message


def test_what_a_writer_has_under_way_is_no_fault(store):
    (store / "episodes/.tmp-1").mkdir()
    assert audit(store).findings == ()


def test_an_episode_copied_under_another_id_is_a_duplicate(store):
    shutil.copytree(store / "episodes/run-000001", store / "episodes/run-000009")
    report = audit(store)
    assert "its folder is 'run-000009' and its id 'run-000001'" in the_finding(report, "id", "run-000009").message
    assert "2 episodes have this id" in the_finding(report, "id", "run-000001").message
    assert named(report, "warning") == {("run-000009", "episode")}


def test_a_summary_that_breaks_the_rules_is_named(store):
    file = store / "episodes/run-000001/zarr.json"
    attributes = json.loads(file.read_text())["attributes"]
    edit_json(file, attributes={**attributes, "summary": {**attributes["summary"], "outcome": "great"}})
    assert "outcome must be one of" in the_finding(audit(store), "summary", "run-000001").message


def test_a_store_of_another_version_is_a_finding(store):
    edit_json(store / "spec.json", format_version=99)
    assert "format version 99" in the_finding(audit(store), "spec.json").message


def test_two_episodes_that_cannot_be_read_are_not_taken_for_the_same(store):
    for id in ("run-000000", "run-000001"):
        (store / "episodes" / id / "columns/c/0/0").write_bytes(b"torn")
    assert [finding.field for finding in audit(store).findings] == ["arrays", "arrays"]
