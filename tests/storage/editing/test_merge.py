import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from demoloom.storage import ConfigError, SpecMismatch, StoreError, Vector, ZarrStore, open_dataset
from demoloom.storage import lerobot_layout as layout
from demoloom.storage.atomic import read_json
from demoloom.storage.editing.merge import Merging, dataset_names, merge
from demoloom.storage.lerobot_store import LeRobotStore


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_datasets_of_either_format_become_one(tmp_path, make_dataset, same, form):
    sources = [make_dataset("a", [0, 1], "lerobot"), make_dataset("b", [2, 3], "zarr", task="pull the block")]
    done = merge([source.path for source in sources], tmp_path / "all", form)
    assert (done.num_episodes, done.num_repeated, done.skipped) == (4, 0, ())
    merged = open_dataset(tmp_path / "all")
    for source in sources:
        for episode in source:
            same(merged.read(episode.id), episode)


def test_tasks_of_one_text_are_one_and_rows_are_numbered_through(tmp_path, make_dataset):
    make_dataset("a", [0], "lerobot", task="push")
    make_dataset("b", [1], "lerobot", task="pull")
    make_dataset("c", [2], "lerobot", task="push")
    merge([tmp_path / name for name in "abc"], tmp_path / "all", "lerobot")
    rows = pq.read_table(tmp_path / "all" / "data/chunk-000/file-000.parquet")
    assert rows["index"].to_pylist() == list(range(21))
    assert rows["episode_index"].to_pylist() == [0] * 7 + [1] * 7 + [2] * 7
    assert rows["task_index"].to_pylist() == [0] * 7 + [1] * 7 + [0] * 7
    stats = read_json(tmp_path / "all" / layout.STATS)
    assert stats["index"]["max"] == [20]
    assert stats["episode_index"]["max"] == [2]
    assert stats["action"]["count"] == [21]


def test_a_dataset_without_an_episode_is_skipped_and_said_so(tmp_path, spec, make_dataset):
    make_dataset("a", [0], "lerobot")
    ZarrStore.create(tmp_path / "empty-zarr", spec)
    LeRobotStore.create(tmp_path / "empty-lerobot", spec)
    paths = [tmp_path / name for name in ("empty-zarr", "a", "empty-lerobot")]
    done = merge(paths, tmp_path / "all", "lerobot")
    assert done.num_episodes == 1
    assert done.skipped == (paths[0], paths[2])


def test_nothing_but_empty_datasets_cannot_be_merged(tmp_path, spec):
    ZarrStore.create(tmp_path / "empty", spec)
    with pytest.raises(StoreError, match="none of the 1 datasets to merge has an episode"):
        merge([tmp_path / "empty"], tmp_path / "all", "zarr")


def test_the_same_episode_in_two_datasets_is_stored_once(tmp_path, make_dataset):
    make_dataset("a", [0, 1])
    make_dataset("b", [1, 2], "lerobot")
    done = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all", "zarr")
    assert (done.num_episodes, done.num_repeated) == (3, 1)


def test_another_episode_of_the_same_id_is_refused_by_name_before_anything_is_copied(tmp_path, make_dataset):
    make_dataset("a", [0])
    make_dataset("b", [0], length=5)
    with pytest.raises(StoreError, match=r"'run-000000' of .*/b is another than that of .*/a; --rename"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all", "zarr")
    assert not (tmp_path / "all").exists()


def test_other_rows_under_the_same_id_are_refused_by_name(tmp_path, make_dataset, make_episode):
    make_dataset("a", [0])
    make_dataset("b", [0], action=make_episode(0).action + 1)
    with pytest.raises(StoreError, match="'run-000000' is in the dataset with other content"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all", "zarr")
    assert not (tmp_path / "all").exists()


def test_renaming_keeps_both_and_says_what_each_was_called(tmp_path, make_dataset, same):
    a, b = make_dataset("a", [0]), make_dataset("b", [0], length=5)
    merge([a.path, b.path], tmp_path / "all", "zarr", Merging(rename=True))
    merged = open_dataset(tmp_path / "all")
    assert merged.ids() == ["a-run-000000", "b-run-000000"]
    renamed = merged.read("b-run-000000")
    assert renamed.lineage["edits"] == [{"edit": "rename", "id_before": "run-000000"}]
    same(replace(renamed, id="run-000000", lineage=b.read("run-000000").lineage), b.read("run-000000"))


def test_the_name_of_a_dataset_is_as_much_of_its_path_as_is_needed():
    assert dataset_names([Path("/runs/a/generated"), Path("/runs/b/generated")]) == ["a-generated", "b-generated"]
    assert dataset_names([Path("/runs/a b"), Path("/runs/c")]) == ["a-b", "c"]
    with pytest.raises(ConfigError, match="merged with itself"):
        dataset_names([Path("/runs/a"), Path("/runs/a")])


def test_every_difference_of_the_specs_is_listed(tmp_path, spec, make_dataset):
    make_dataset("a", [0])
    other = replace(spec, fps=20, robot_type="another")
    make_dataset("b", [1], spec=other)
    with pytest.raises(SpecMismatch, match=r"fps is 10 here and 20 there; robot_type is 'stand-in' here and 'another'"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "all", "zarr")


def test_bounds_that_differ_are_widened_only_when_said_so(tmp_path, spec, make_dataset):
    make_dataset("a", [0])
    other = replace(spec, action=Vector(("x", "y"), (-5.0, 0.0), (50.0, 200.0)))
    make_dataset("b", [1], spec=other)
    paths = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(SpecMismatch, match="--widen takes the widest"):
        merge(paths, tmp_path / "all", "zarr")
    merge(paths, tmp_path / "all", "zarr", Merging(widen=True))
    assert open_dataset(tmp_path / "all").spec.action == Vector(("x", "y"), (-5.0, 0.0), (100.0, 200.0))


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_datasets_of_other_tools_have_bounds_and_ids_of_their_own(tmp_path, make_dataset, make_episode, form):
    # Their bounds are the least and the greatest values found, so that no two agree.
    paths = [tmp_path / name for name in ("a", "b")]
    for path, indices in zip(paths, ([0, 1], [2, 3]), strict=True):
        make_dataset(path.name, indices, "lerobot")
        shutil.rmtree(path / "meta/demoloom")
    with pytest.raises(SpecMismatch, match="only bounds differ: --widen takes the widest"):
        merge(paths, tmp_path / "all", form)
    merge(paths, tmp_path / "all", form, Merging(widen=True))
    merged = open_dataset(tmp_path / "all")
    assert sorted(merged.ids()) == ["a-000000", "a-000001", "b-000000", "b-000001"]
    assert merged.spec.state.high == (3, 6)
    frames = merged.read("b-000001").images["wrist"]
    np.testing.assert_array_equal(frames, make_episode(3).images["wrist"])


def test_labels_that_not_all_have_are_dropped_only_when_said_so(tmp_path, spec, make_dataset):
    make_dataset("a", [0])
    make_dataset("b", [1], spec=replace(spec, labels={}), labels={})
    paths = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(SpecMismatch, match=r"labels are \['pose'\] here and \[\] there; --labels shared"):
        merge(paths, tmp_path / "all", "zarr")
    merge(paths, tmp_path / "all", "zarr", Merging(labels="shared"))
    merged = open_dataset(tmp_path / "all")
    assert merged.spec.labels == {}
    assert len(merged) == 2
