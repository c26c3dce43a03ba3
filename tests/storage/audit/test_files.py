import pytest

from demoloom.storage.audit import audit

from .damage import DATA, VIDEO, named, the_finding

ID = {"lerobot": "run-000001", "foreign": "d-000001"}
TOP = "observation.images.top"


@pytest.fixture(params=["lerobot", "foreign"])
def kind(request):
    return request.param


@pytest.mark.parametrize(("field", "file"), [("data", DATA), (TOP, VIDEO)])
def test_a_missing_file_is_named_by_every_episode_in_it(copy, kind, field, file):
    dataset = copy(kind)
    (dataset / file).unlink()
    report = audit(dataset)
    assert f"{file} is missing" in the_finding(report, field, ID[kind]).message
    assert sum(finding.field == field for finding in report.findings) == 3


@pytest.mark.parametrize("file", [DATA.replace("000.p", "007.p"), VIDEO.replace("000.mp4", "007.mp4"), "images/a.png"])
def test_a_file_that_no_episode_refers_to_is_named(copy, kind, file):
    dataset = copy(kind)
    (dataset / file).parent.mkdir(exist_ok=True)
    (dataset / file).write_bytes(b"left")
    report = audit(dataset)
    assert named(report, "warning") == {(None, file)}
    assert the_finding(report, file).mend == "quarantine"


def test_what_a_writer_has_under_way_is_no_fault(copy, kind):
    dataset = copy(kind)
    (dataset / "data/chunk-000/.tmp-1").write_bytes(b"half")
    (dataset / ".tmp-2").mkdir()
    assert audit(dataset).findings == ()
