from pathlib import Path

import pytest

from demoloom.storage import StoreError
from demoloom.storage.audit import audit
from demoloom.storage.lineage import hash_folder

from .conftest import KINDS
from .damage import edit_json, the_finding


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_wrong_with_what_demoloom_writes(pristine, kind):
    report = audit(pristine / kind)
    assert report.findings == ()
    assert (report.episodes, report.rows, report.frames) == (3, 15, 30)
    assert report.format == ("zarr" if kind == "zarr" else "lerobot")


@pytest.mark.parametrize("kind", KINDS)
def test_an_audit_changes_nothing(pristine, kind):
    before = hash_folder(pristine / kind)
    audit(pristine / kind)
    assert hash_folder(pristine / kind) == before


def test_where_there_is_no_dataset_that_is_an_error_and_no_finding(tmp_path):
    with pytest.raises(StoreError, match="no dataset at"):
        audit(tmp_path)


def test_what_demoloom_alone_cannot_read_is_a_finding(copy):
    dataset = copy("foreign")
    edit_json(dataset / "meta/stats.json", action=None)
    assert any("demoloom cannot read it" in finding.message for finding in audit(dataset).findings)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"codebase_version": "v2.1"}, "version v2.1, demoloom reads v3.x; convert it with `demoloom import`"),
        ({"fps": 29.97}, "fps is 29.97; it must be a whole number"),
        ({"features": {"action": 3}}, "features must give each column a dtype"),
        ({"data_path": None}, "data_path is None; restore"),
    ],
)
def test_an_info_that_cannot_be_used_is_a_finding(copy, change, says):
    dataset = copy("foreign")
    edit_json(dataset / "meta/info.json", **change)
    (finding,) = audit(dataset).findings
    assert says in finding.message


@pytest.mark.parametrize(("kind", "file"), [("lerobot", "meta/info.json"), ("zarr", "spec.json")])
def test_metadata_cut_short_is_a_finding_and_no_traceback(copy, kind, file):
    dataset = copy(kind)
    (dataset / file).write_text('{"fps": 10, ')
    assert "cannot read" in the_finding(audit(dataset), file).message


@pytest.mark.parametrize(("kind", "file"), [("lerobot", "meta/demoloom/spec.json"), ("zarr", "spec.json")])
@pytest.mark.parametrize("camera", [{"name": 5, "height": 1, "width": 1}, {"name": "a", "height": "x", "width": 1}])
def test_a_spec_of_other_types_is_a_finding_and_no_traceback(copy, kind, file, camera):
    dataset = copy(kind)
    edit_json(dataset / file, cameras=[camera])
    assert the_finding(audit(dataset), file).severity == "error"


def test_a_dataset_whose_writer_was_killed_before_it_finished_is_a_finding(copy):
    dataset = copy("foreign")
    (dataset / "meta/episodes/chunk-000/file-000.parquet").unlink()
    assert "the writer was stopped" in the_finding(audit(dataset), "meta/episodes").message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("damage", ["cut", "emptied", "missing"])
def test_whatever_file_is_damaged_is_found_without_a_traceback(copy, kind, damage):
    dataset = copy(kind)
    files = [file for file in dataset.rglob("*") if file.is_file() and file.name != ".lock"]
    for file in files:
        whole = file.read_bytes()
        file.unlink()
        if damage != "missing":
            file.write_bytes(whole[: len(whole) // 2 if damage == "cut" else 0])
        assert audit(dataset).findings, file
        file.write_bytes(whole)
    assert audit(dataset).findings == ()


def test_progress_is_told(pristine: Path) -> None:
    told: list[tuple[int, int, str]] = []
    audit(pristine / "lerobot", lambda *step: told.append(step))
    assert (0, 1, "data/chunk-000/file-000.parquet") in told
