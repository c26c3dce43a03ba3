import dataclasses
import shutil

import numpy as np
import pytest

from demoloom.storage import ConfigError, StoreError, ZarrStore, open_dataset
from demoloom.storage.audit import audit
from demoloom.storage.quality import (
    EpisodeQuality,
    QualitySettings,
    quality_of,
    read_quality,
    score_dataset,
    write_quality,
)
from demoloom.storage.quality.table import quality_file

KINDS = ["zarr", "lerobot"]


@pytest.fixture
def store(tmp_path, spec, make_episode):
    """Episode i of 7 rows at 10 Hz: state (i, t) and action (t, i) in bounds 0 .. 100."""
    store = ZarrStore.create(tmp_path / "zarr", spec)
    for index in range(3):
        store.append(make_episode(index))
    return store


def test_scores_of_a_steady_straight_motion(store):
    found = score_dataset(store).episodes["run-000000"]
    assert (found.length, found.duration_s) == (7, 0.7)
    assert (found.path_efficiency, found.jerk_mean, found.jerk_p95) == pytest.approx((1, 0, 0), abs=1e-9)
    assert (found.idle_share, found.idle_start, found.idle_end) == (0.0, 0, 0)
    assert found.score_mean == pytest.approx(4 / 7)
    assert found.trust_mean == pytest.approx(0.9)


def test_actions_at_a_bound_are_counted(store):
    # Episode 0: x is 0, 1, .. 6 of 0 .. 100, of which 0 and 1 are within 1 %; y is 0 in all 7 rows.
    assert score_dataset(store).episodes["run-000000"].action_saturation == 9 / 14


def test_the_nearest_episode_is_named_with_its_distance(store):
    # Episodes 1 and 2 are 1 apart in one of two dimensions of state and one of two of action, of a range of 100.
    found = score_dataset(store).episodes["run-000002"]
    assert found.nearest_id == "run-000001"
    assert found.nearest_distance == pytest.approx(0.01 / np.sqrt(2))


def test_starts_are_counted_by_cell(store):
    table = score_dataset(store)
    assert table.start_dimensions == ("x/mm", "y axis")
    assert table.start_coverage == 0.01
    assert table.episodes["run-000000"].start_share == 1.0


def test_a_step_is_idle_if_neither_state_nor_action_moves(tmp_path, spec, make_episode):
    still = np.zeros((5, 2), np.float32)
    moving = np.array([[0, 0], [0, 0], [5, 0], [5, 0], [5, 0]], np.float32)
    store = ZarrStore.create(tmp_path / "idle", spec)
    store.append(make_episode(0, 5, state=moving, action=still))
    store.append(make_episode(1, 5, state=still, action=moving))
    for scores in score_dataset(store).episodes.values():
        assert (scores.idle_share, scores.idle_start, scores.idle_end) == (0.75, 1, 2)


def test_an_episode_of_one_row_has_scores(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "one", spec)
    store.append(make_episode(0, 1))
    found = score_dataset(store).episodes["run-000000"]
    assert (found.length, found.path_efficiency, found.jerk_mean, found.idle_share) == (1, 0.0, 0.0, 0.0)
    assert (found.nearest_distance, found.nearest_id) == (1.0, "")


def test_a_dataset_without_episodes_has_no_scores(tmp_path, spec):
    assert score_dataset(ZarrStore.create(tmp_path / "none", spec)).episodes == {}


def test_only_some_episodes_are_scored_among_themselves(store):
    table = score_dataset(store, ids={"run-000000", "run-000002"})
    assert list(table.episodes) == ["run-000000", "run-000002"]
    assert table.episodes["run-000002"].nearest_id == "run-000000"


def test_every_score_is_told_of(store):
    seen = []
    score_dataset(store, lambda done, total, message: seen.append((done, total, message)))
    assert seen == [(1, 3, "run-000000"), (2, 3, "run-000001"), (3, 3, "run-000002")]


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_kept_with_the_dataset_and_the_same_in_both_formats(tmp_path, store, spec, write_lerobot, kind):
    write_lerobot(tmp_path / "lerobot", spec, store)
    reader = open_dataset(tmp_path / kind)
    write_quality(reader.path, quality_of(reader))
    assert read_quality(reader.path) == quality_of(open_dataset(tmp_path / kind)) == score_dataset(store)
    assert quality_file(reader.path).is_file()


def test_kept_scores_are_taken_as_they_are(store):
    forged = dataclasses.replace(score_dataset(store), start_coverage=0.5)
    write_quality(store.path, forged)
    assert quality_of(store) == forged


def test_scores_of_earlier_content_are_computed_anew(store, make_episode):
    write_quality(store.path, score_dataset(store))
    store.append(make_episode(3))
    assert list(quality_of(store).episodes) == [f"run-00000{index}" for index in range(4)]


def test_scores_of_a_foreign_dataset_are_computed_anew_when_its_files_change(tmp_path, store, spec, write_lerobot):
    write_lerobot(tmp_path / "foreign", spec, store)
    shutil.rmtree(tmp_path / "foreign" / "meta" / "demoloom")
    reader = open_dataset(tmp_path / "foreign")
    forged = dataclasses.replace(score_dataset(reader), start_coverage=0.5)
    write_quality(reader.path, forged)
    assert quality_of(open_dataset(tmp_path / "foreign")) == forged
    info = tmp_path / "foreign" / "meta" / "info.json"
    info.write_text(info.read_text().replace('"robot_type": "stand-in"', '"robot_type": "other"'))
    assert quality_of(open_dataset(tmp_path / "foreign")).start_coverage != 0.5


def test_scores_are_no_fault_of_a_foreign_dataset(tmp_path, store, spec, write_lerobot):
    write_lerobot(tmp_path / "foreign", spec, store)
    shutil.rmtree(tmp_path / "foreign" / "meta" / "demoloom")
    before = audit(tmp_path / "foreign").findings
    reader = open_dataset(tmp_path / "foreign")
    write_quality(reader.path, score_dataset(reader))
    assert audit(tmp_path / "foreign").findings == before
    assert read_quality(reader.path) is not None


def test_scores_of_other_settings_are_computed_anew(store):
    write_quality(store.path, score_dataset(store))
    assert quality_of(store, settings=QualitySettings(idle_speed=1e6)).episodes["run-000000"].idle_share == 1.0


def test_scores_of_another_version_are_passed_over(store):
    write_quality(store.path, score_dataset(store))
    file = quality_file(store.path)
    file.write_text(file.read_text().replace('"version": 1', '"version": 0'))
    assert read_quality(store.path) is None


def test_damaged_scores_are_named(store):
    quality_file(store.path).write_text('{"version": 1, "stamp": ""}')
    with pytest.raises(StoreError, match=r"quality\.json .* delete it and score the dataset anew"):
        quality_of(store)


@pytest.mark.parametrize(("name", "value"), [("idle_speed", -1.0), ("num_points", 1), ("num_cells", 0)])
def test_settings_out_of_range_are_named(name, value):
    with pytest.raises(ConfigError, match=f"{name} must be at least .*, got {value}"):
        QualitySettings(**{name: value})


def test_every_score_is_described():
    described, names = EpisodeQuality.__doc__ or "", [entry.name for entry in dataclasses.fields(EpisodeQuality)]
    assert [name for name in names if f"\n        {name}:" not in described] == []
