import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demoloom.storage.audit import audit

from .damage import DATA, edit_feature, edit_json, edit_rows, keep_rows, make_foreign, named, the_finding, with_value

# Row 7 is the first of the second episode, which has three.
ID = {"lerobot": "run-000001", "images": "run-000001", "foreign": "d-000001"}


@pytest.fixture(params=["lerobot", "foreign"])
def kind(request):
    return request.param


def test_stamps_with_5_ms_of_jitter_are_named(copy, kind):
    dataset, jitter = copy(kind), np.random.default_rng(0).uniform(-0.005, 0.005, 15)
    edit_rows(dataset, "timestamp", lambda stamps: [stamp + late for stamp, late in zip(stamps, jitter, strict=True)])
    report = audit(dataset)
    finding = the_finding(report, "timestamp", ID[kind])
    assert "at 10 fps it must be" in finding.message
    assert finding.mend == "retime"
    assert sum(finding.field == "timestamp" and finding.episode is not None for finding in report.findings) == 3


@pytest.mark.parametrize("kind", ["lerobot", "images", "foreign"])
def test_data_of_30_fps_declared_as_15_are_named_with_the_true_rate(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "timestamp", lambda stamps: [stamp / 3 for stamp in stamps])
    edit_json(dataset / "meta/info.json", fps=15)
    finding = the_finding(audit(dataset), "timestamp", ID[kind])
    assert "row 1 is stamped 0.0333 s, at 15 fps it must be 0.0667 s (and 1 more)" in finding.message
    assert "set fps in meta/info.json to 30" in finding.message
    assert finding.mend is None


def test_nan_and_infinity_are_named_by_episode_field_and_step(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "action", with_value(8, [float("nan"), 1.0]))
    edit_rows(dataset, "observation.state", with_value(9, [0.0, float("-inf")]))
    report = audit(dataset)
    assert "'x' is nan at step 1" in the_finding(report, "action", ID[kind]).message
    assert "'y axis' is -inf at step 2" in the_finding(report, "observation.state", ID[kind]).message


def test_a_null_counts_as_nan(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "next.reward", with_value(8, None))
    assert "is nan at step 1" in the_finding(audit(dataset), "next.reward", ID[kind]).message


def test_an_action_out_of_the_bounds_is_named(copy):
    dataset = copy("lerobot")
    edit_rows(dataset, "action", with_value(8, [1.0, -0.5]))
    finding = the_finding(audit(dataset), "action", "run-000001")
    assert "'y' is -0.5 at step 1, outside 0.0 .. 100.0" in finding.message


def test_rows_that_were_cut_are_counted_by_episode(copy, kind):
    dataset = copy(kind)
    keep_rows(dataset, [*range(9), *range(10, 15)], DATA)  # without the last row of the second episode
    finding = the_finding(audit(dataset), "rows", ID[kind])
    assert "2 rows were read, its record says 3" in finding.message


@pytest.mark.parametrize(("column", "value"), [("frame_index", 5), ("index", 70)])
def test_a_row_that_is_numbered_wrongly_is_named(copy, kind, column, value):
    dataset = copy(kind)
    edit_rows(dataset, column, with_value(8, value))
    assert f"row 1 has {column} {value}" in the_finding(audit(dataset), column, ID[kind]).message


def test_rows_of_an_episode_without_a_record_are_named(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "episode_index", lambda numbers: [9 if number == 1 else number for number in numbers])
    report = audit(dataset)
    assert "3 rows are of episode 9, which has no record" in the_finding(report, "episode_index").message
    assert "0 rows were read" in the_finding(report, "rows", ID[kind]).message


def test_a_task_that_is_not_listed_is_named(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "task_index", with_value(8, 4))
    assert "row 1 has task_index 4, which no task has" in the_finding(audit(dataset), "task_index", ID[kind]).message


def test_a_wrong_shape_in_info_is_named(copy, kind):
    dataset = copy(kind)
    edit_feature(dataset, "action", shape=[3], names=["x", "y", "z"])
    finding = the_finding(audit(dataset), "action", ID[kind])
    assert "row 0 has 2 numbers, meta/info.json declares shape [3]" in finding.message


def test_names_that_do_not_fit_the_shape_are_named(copy, kind):
    dataset = copy(kind)
    edit_feature(dataset, "action", names=["x"])
    assert (None, "action") in named(audit(dataset))


def test_a_wrong_dtype_is_named(copy, kind):
    dataset = copy(kind)
    edit_feature(dataset, "action", dtype="float64")
    says = "holds float32, meta/info.json declares float64"
    assert any(says in finding.message for finding in audit(dataset).findings if finding.field == "action")


def test_rows_of_different_lengths_are_named(copy, kind):
    dataset = copy(kind)
    table = pq.ParquetFile(dataset / DATA).read()
    actions = table["action"].to_pylist()
    column = pa.array([*actions[:8], [1.0], *actions[9:]], pa.list_(pa.float32()))
    pq.write_table(table.set_column(table.column_names.index("action"), "action", column), dataset / DATA)
    assert "rows of different lengths" in the_finding(audit(dataset), "action").message


def test_a_column_that_is_missing_or_undeclared_is_named(copy, kind):
    dataset = copy(kind)
    table = pq.ParquetFile(dataset / DATA).read()
    names = ["torque" if name == "wm.trust" else name for name in table.column_names]
    pq.write_table(table.rename_columns(names), dataset / DATA)
    report = audit(dataset)
    assert "has no such column" in the_finding(report, "wm.trust").message
    assert (None, "torque") in named(report, "warning")


def test_a_torn_file_is_named_and_so_are_its_episodes(copy, kind):
    dataset = copy(kind)
    (dataset / DATA).write_bytes((dataset / DATA).read_bytes()[:-20])
    assert {(None, DATA), (ID[kind], "rows")} <= named(audit(dataset))


def test_rows_in_another_file_than_the_record_says_are_named(copy):
    dataset = make_foreign(copy("growing"))
    swapped = [dataset / f"data/chunk-000/file-00{number}.parquet" for number in (0, 1)]
    swapped[0].rename(dataset / "data/other")
    swapped[1].rename(swapped[0])
    (dataset / "data/other").rename(swapped[1])
    assert "its record says" in the_finding(audit(dataset), "data", "d-000000").message
