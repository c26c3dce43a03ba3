"""Who drove each step, through all that is done with a dataset."""

import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demoloom.storage import ConfigError, InvalidEpisode, SpecMismatch, open_dataset, validate_episode, validate_spec
from demoloom.storage import lerobot_layout as layout
from demoloom.storage.atomic import read_json
from demoloom.storage.audit import audit
from demoloom.storage.columns import columns_of, pack, unpack
from demoloom.storage.convert import convert
from demoloom.storage.diff import diff
from demoloom.storage.editing.merge import Merging, merge
from demoloom.storage.editing.resampling import Resampling
from demoloom.storage.editing.retime import restamp
from demoloom.storage.editing.split import split
from demoloom.storage.row_table import read_table
from demoloom.storage.trim import TrimSettings, trim
from demoloom.storage.windows import WindowDataset

from .stored import store

DROVE = [False, False, True, True, False, False, True]


@pytest.fixture
def told(spec):
    """The spec of datasets that say who drove."""
    return replace(spec, intervention=True)


@pytest.fixture
def driven(make_episode):
    """An episode in which a person drove rows 2, 3 and 6."""
    return lambda index=0, drove=DROVE: make_episode(index, len(drove), intervention=np.array(drove))


def drove_in(reader, id):
    """Who drove each row of a stored episode."""
    return reader.columns(id)["intervention"].tolist()


def test_truths_come_back_as_truths_from_the_table_of_numbers(told, driven):
    columns = unpack(pack(columns_of(driven()), told), told)
    assert columns["intervention"].dtype == bool
    assert columns["intervention"].tolist() == DROVE
    assert columns["next.success"].dtype == bool


@pytest.mark.parametrize("drove", [np.ones(7, np.float32), np.ones((7, 1), bool), np.ones(6, bool)])
def test_who_drove_must_be_a_truth_for_each_row(told, make_episode, drove):
    with pytest.raises(InvalidEpisode, match=r"intervention needs shape \(7,\) and dtype bool, got"):
        validate_episode(make_episode(intervention=drove), told)


def test_a_spec_says_it_with_a_truth(spec):
    with pytest.raises(ConfigError, match="intervention must be true or false, got 1"):
        validate_spec(replace(spec, intervention=1))


@pytest.mark.parametrize("kind", ["zarr", "lerobot", "lerobot-images"])
def test_a_dataset_that_says_who_drove_has_no_fault(tmp_path, told, driven, kind):
    store(tmp_path / "set", kind, told, [driven(0), driven(1, [True])])
    assert audit(tmp_path / "set").findings == ()


def test_a_changed_entry_is_found(tmp_path, told, driven):
    store(tmp_path / "set", "lerobot", told, [driven()])
    file = tmp_path / "set" / layout.DATA.format(**layout.place(0))
    rows = pq.read_table(file)
    place = rows.column_names.index("intervention")
    pq.write_table(rows.set_column(place, "intervention", pa.chunked_array([[not drove for drove in DROVE]])), file)
    assert "digest" in {finding.field for finding in audit(tmp_path / "set").findings}


def test_lerobot_reads_the_feature_that_its_own_dagger_recordings_have(tmp_path, told, driven):
    store(tmp_path / "set", "lerobot", told, [driven()])
    feature = read_json(tmp_path / "set" / layout.INFO)["features"]["intervention"]
    assert feature == {"dtype": "bool", "shape": [1], "names": None}
    rows = pq.read_table(tmp_path / "set" / layout.DATA.format(**layout.place(0)))
    assert rows["intervention"].to_pylist() == DROVE
    assert read_json(tmp_path / "set" / layout.STATS)["intervention"]["mean"] == [pytest.approx(3 / 7)]


def test_recordings_of_lerobot_say_who_drove_as_ours_do(tmp_path, told, driven):
    store(tmp_path / "set", "lerobot", told, [driven()])
    shutil.rmtree(tmp_path / "set/meta/demoloom")
    reader = open_dataset(tmp_path / "set")
    assert reader.spec.intervention
    assert drove_in(reader, "set-000000") == DROVE
    assert audit(tmp_path / "set").findings == ()


@pytest.mark.parametrize("form", ["zarr", "lerobot"])
def test_in_a_merge_nobody_intervened_where_a_dataset_does_not_say(
    tmp_path, spec, told, make_episode, same, driven, form
):
    store(tmp_path / "a", "zarr", spec, [make_episode(0)])
    store(tmp_path / "b", "lerobot", told, [driven(1)])
    for paths in (("a", "b"), ("b", "a")):
        out = tmp_path / "-".join(paths)
        merge([tmp_path / name for name in paths], out, form)
        merged = open_dataset(out)
        assert merged.spec == told
        same(merged.read("run-000000"), driven(0, [False] * 7))
        same(merged.read("run-000001"), driven(1))


def test_labels_may_be_dropped_in_the_same_merge(tmp_path, spec, told, make_episode, driven):
    store(tmp_path / "a", "zarr", replace(spec, labels={}), [make_episode(0, labels={})])
    store(tmp_path / "b", "zarr", told, [driven(1)])
    paths = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(SpecMismatch, match="--labels shared keeps those which both have"):
        merge(paths, tmp_path / "all", "zarr")
    merge(paths, tmp_path / "all", "zarr", Merging(labels="shared"))
    merged = open_dataset(tmp_path / "all")
    assert (merged.spec.labels, merged.spec.intervention) == ({}, True)
    assert drove_in(merged, "run-000001") == DROVE


def test_a_conversion_there_and_back_changes_nothing(tmp_path, told, same, driven):
    source = store(tmp_path / "a", "zarr", told, [driven()])
    convert(source, tmp_path / "b", "lerobot")
    convert(open_dataset(tmp_path / "b"), tmp_path / "c", "zarr")
    same(open_dataset(tmp_path / "c").read("run-000000"), driven())


def test_a_diff_names_the_steps_that_somebody_else_drove(tmp_path, told, driven):
    left = store(tmp_path / "a", "zarr", told, [driven()])
    right = store(tmp_path / "b", "lerobot", told, [driven(0, [*DROVE[:6], False])])
    found = diff(left, right)
    assert found.changed["run-000000"] == ["intervention: differs in 1 of 7 rows, first in row 6, by 1 at most"]


def test_cut_ends_take_who_drove_with_them(tmp_path, told, make_episode):
    still = np.array([[5, 5], [5, 5], [5, 5], [9, 5], [20, 5], [30, 5]], np.float32)
    episode = make_episode(0, 6, state=still, action=still, score=np.zeros(6, np.float32), success=np.zeros(6, bool))
    source = store(tmp_path / "a", "zarr", told, [replace(episode, intervention=np.arange(6) == 3)])
    (cut,) = trim(source, tmp_path / "b", "zarr", TrimSettings(keep=0))
    assert (cut.start, cut.stop) == (2, 6)
    assert drove_in(open_dataset(tmp_path / "b"), "run-000000") == [False, True, False, False]


def test_parts_of_a_split_and_a_restamped_dataset_still_say_it(tmp_path, told, driven):
    source = store(tmp_path / "a", "zarr", told, [driven(0), driven(1, [True])])
    split(source, tmp_path / "parts", "zarr", {"x": 1, "y": 1})
    parts = [open_dataset(tmp_path / "parts" / name) for name in "xy"]
    drove = {id: drove_in(part, id) for part in parts for id in part.ids()}
    assert drove == {"run-000000": DROVE, "run-000001": [True]}
    restamp(source, tmp_path / "slow", "zarr", 5)
    assert drove_in(open_dataset(tmp_path / "slow"), "run-000000") == DROVE


def test_at_half_the_rate_a_step_was_driven_if_either_of_its_two_was(tmp_path, told, driven):
    source = store(tmp_path / "a", "zarr", told, [driven()])
    (rows,) = Resampling.plan(np.arange(7.0), 2.0).blocks(source, "run-000000")
    assert columns_of(rows)["intervention"].tolist() == [False, True, False, True]


def test_windows_hold_who_drove(tmp_path, told, driven):
    table = read_table(store(tmp_path / "a", "lerobot", told, [driven()]))
    window = WindowDataset(table, {"intervention": [0, 1]})[5]
    assert window["intervention"].tolist() == [False, True]
    assert not window["intervention_is_pad"].any()
