import json

import pytest

from demoloom.storage.audit import audit

from .damage import edit_feature, edit_json, named, the_finding


def test_an_id_that_comes_twice_is_named(copy):
    dataset = copy("lerobot")
    sidecar = dataset / "meta/demoloom/episodes.jsonl"
    sidecar.write_text(sidecar.read_text().replace("run-000002", "run-000001"))
    assert "2 episodes have this id" in the_finding(audit(dataset), "id", "run-000001").message


def test_a_sidecar_that_does_not_fit_is_named(copy):
    dataset = copy("lerobot")
    sidecar = dataset / "meta/demoloom/episodes.jsonl"
    sidecar.write_text(sidecar.read_text().replace('"length": 3', '"length": 4'))
    report = audit(dataset)
    message = the_finding(report, "meta/demoloom/episodes.jsonl", "run-000001").message
    assert "its summary has length 4, its record 3" in message
    sidecar.write_text(sidecar.read_text().split("\n")[0])
    assert ("d-000001", "meta/demoloom/episodes.jsonl") in named(audit(dataset))


def test_a_spec_of_another_rate_is_named(copy):
    dataset = copy("lerobot")
    edit_json(dataset / "meta/demoloom/spec.json", fps=20)
    assert "fps is 20 in meta/demoloom/spec.json and 10 in meta/info.json" in the_finding(audit(dataset), "fps").message


def test_counted_pixels_that_are_missing_are_a_warning(copy):
    dataset = copy("lossy")
    (dataset / "meta/demoloom/pixels-15.npy").unlink()
    finding = the_finding(audit(dataset), "meta/demoloom/pixels-15.npy")
    assert (finding.severity, finding.mend) == ("warning", None)


def test_a_column_that_info_declares_unlike_the_spec_is_named(copy):
    dataset = copy("lerobot")
    edit_feature(dataset, "observation.state", names=["a", "b"])
    finding = the_finding(audit(dataset), "observation.state")
    assert "its names is ['a', 'b'] in meta/info.json and ['x/mm', 'y axis'] in" in finding.message
    assert finding.mend == "info"


@pytest.mark.parametrize("content", ["{", '{"kind": "video", "crf": 99}', '{"kind": "video", "zip": 1}'])
def test_a_codec_that_cannot_be_read_is_named(copy, content):
    dataset = copy("lerobot")
    (dataset / "meta/demoloom/codec.json").write_text(content)
    finding = the_finding(audit(dataset), "meta/demoloom/codec.json")
    assert "no digest can be compared" in finding.message
    assert finding.severity == "warning"


def test_a_spec_that_is_missing_is_named(copy):
    dataset = copy("lerobot")
    (dataset / "meta/demoloom/spec.json").unlink()
    assert (None, "meta/demoloom/spec.json") in named(audit(dataset))


def test_a_summary_that_breaks_the_rules_is_named(copy):
    dataset = copy("lerobot")
    sidecar = dataset / "meta/demoloom/episodes.jsonl"
    first, *others = sidecar.read_text().splitlines()
    sidecar.write_text("\n".join([json.dumps({**json.loads(first), "outcome": "great"}), *others]))
    assert "outcome must be one of" in the_finding(audit(dataset), "summary", "run-000000").message
