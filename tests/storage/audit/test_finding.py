import pytest

from demoloom.storage.audit import Finding


def test_a_finding_reads_as_a_line_with_its_place():
    finding = Finding(field="action", message="is nan; drop it", episode="run-1")
    assert str(finding) == "error: episode 'run-1', action: is nan; drop it"
    assert str(Finding(field="action", message="no; fix", severity="warning")) == "warning: action: no; fix"


def test_only_what_has_a_mend_is_repairable():
    assert not Finding(field="a", message="m").repairable
    assert Finding(field="a", message="m", mend="stats").to_dict()["repairable"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"severity": "bad"}, "got 'bad'"), ({"mend": "glue"}, "got 'glue'"), ({"mend": "quarantine"}, "got None")],
)
def test_a_finding_that_cannot_be_is_refused(changes, says):
    with pytest.raises(ValueError, match=says):
        Finding(field="a", message="m", **changes)
