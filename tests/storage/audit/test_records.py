import pytest

from demoloom.storage.audit import audit

from .damage import RECORDS, edit_json, edit_rows, keep_rows, the_finding, with_value

ID = {"lerobot": "run-000001", "foreign": "d-000001"}
TOP = "observation.images.top"


@pytest.fixture(params=["lerobot", "foreign"])
def kind(request):
    return request.param


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"total_episodes": 4}, "total_episodes is 4, meta/episodes and meta/tasks.parquet give 3"),
        ({"total_frames": 14}, "total_frames is 14"),
        ({"total_tasks": 2}, "total_tasks is 2"),
        ({"splits": {"train": "0:9"}}, "give {'train': '0:3'}"),
    ],
)
def test_a_count_in_info_that_is_wrong_is_named(copy, kind, change, says):
    dataset = copy(kind)
    edit_json(dataset / "meta/info.json", **change)
    finding = the_finding(audit(dataset), "meta/info.json")
    assert says in finding.message
    assert finding.mend == "info"


def test_a_gap_in_the_numbers_of_episodes_is_named(copy, kind):
    dataset = copy(kind)
    keep_rows(dataset, [0, 2], RECORDS)
    assert any("episodes 1 .. 1 have no record" in finding.message for finding in audit(dataset).findings)


def test_two_records_of_one_number_are_named(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "episode_index", with_value(2, 1), RECORDS)
    assert any("2 records have episode_index 1" in finding.message for finding in audit(dataset).findings)


def test_a_record_whose_length_is_not_that_of_its_rows_is_named(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "length", with_value(1, 4), RECORDS)
    report = audit(dataset)
    assert "it has length 4 and rows 7 .. 9" in the_finding(report, "length", ID[kind]).message
    assert "3 rows were read, its record says 4" in the_finding(report, "rows", ID[kind]).message


def test_rows_that_do_not_follow_those_of_the_episode_before_are_named(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "dataset_from_index", with_value(1, 8), RECORDS)
    message = the_finding(audit(dataset), "dataset_from_index", ID[kind]).message
    assert "its rows begin at 8, those of the episode before end at 7" in message


def test_a_video_range_that_is_longer_than_the_rows_and_overlaps_the_next_is_named(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, f"videos/{TOP}/to_timestamp", with_value(1, 1.2), RECORDS)
    found = [(finding.episode, finding.message) for finding in audit(dataset).findings]
    assert any(id == ID[kind] and "has 5 frames for 3 rows" in message for id, message in found)
    assert any("shares 2 frames with that of episode" in message for _, message in found)


def test_a_video_range_between_two_frames_is_named(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, f"videos/{TOP}/from_timestamp", with_value(1, 0.74), RECORDS)
    edit_rows(dataset, f"videos/{TOP}/to_timestamp", with_value(1, 1.04), RECORDS)
    assert any("begins at 0.7400 s, between two frames" in finding.message for finding in audit(dataset).findings)


def test_a_task_of_a_record_that_is_not_listed_is_named(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "tasks", with_value(1, ["fly"]), RECORDS)
    assert "its task 'fly' is not in meta/tasks.parquet" in the_finding(audit(dataset), "tasks", ID[kind]).message


def test_a_record_without_what_it_needs_is_named(copy, kind):
    dataset = copy(kind)
    edit_rows(dataset, "length", with_value(1, None), RECORDS)
    assert "a record in" in the_finding(audit(dataset), "meta/episodes").message
