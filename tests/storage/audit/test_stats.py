import json

import numpy as np
import pytest

from demoloom.storage.audit import audit, repair
from demoloom.storage.audit.running_stats import RunningStats
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import numbered_episode, numbered_spec

from .damage import edit_feature, edit_json, edit_stats, named, the_finding


@pytest.fixture(params=["lerobot", "images", "foreign"])
def kind(request):
    return request.param


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"max": [5.0, 2.0]}, "says max 5, 2, the rows say 6, 2"),
        ({"min": [-1.0, 0.0]}, "says min -1, 0, the rows say 0, 0"),
        ({"mean": [2.3, 0.9]}, "says mean 2.3, 0.9, the rows say 2.26667, 0.866667"),
        ({"std": [1.0, 1.0]}, "says std 1, 1"),
        ({"count": [14]}, "says count 14, the rows say 15"),
        ({"mean": [float("nan"), 0.9]}, "says mean nan, 0.9"),
        ({"max": None}, "says max nothing"),
    ],
)
def test_a_moment_that_disagrees_with_the_rows_is_an_error(copy, kind, change, says):
    dataset = copy(kind)
    edit_stats(dataset, "action", **change)
    finding = the_finding(audit(dataset), "action")
    assert says in finding.message
    assert (finding.severity, finding.mend) == ("error", "stats")


def test_a_quantile_that_disagrees_with_the_rows_is_a_warning(copy, kind):
    dataset = copy(kind)
    edit_stats(dataset, "action", q99=[4.9, 2.0])
    finding = the_finding(audit(dataset), "action")
    assert "says q99 4.9, which is no such quantile of the rows" in finding.message
    assert (finding.severity, finding.mend) == ("warning", "stats")


def test_a_column_without_statistics_is_a_warning(copy):
    dataset = copy("lerobot")
    stats = json.loads((dataset / "meta/stats.json").read_text())
    del stats["action"]
    (dataset / "meta/stats.json").write_text(json.dumps(stats))
    assert named(audit(dataset), "warning") == {(None, "action")}


def test_statistics_that_cannot_be_read_are_named(copy, kind):
    dataset = copy(kind)
    (dataset / "meta/stats.json").write_text("{")
    assert the_finding(audit(dataset), "meta/stats.json").mend == "stats"


@pytest.mark.parametrize("entry", [5, {"mean": "many"}, {"mean": [[1], [2, 3]]}, {"mean": [1.0]}])
def test_statistics_of_another_shape_are_named(copy, entry):
    dataset = copy("lerobot")
    edit_json(dataset / "meta/stats.json", action=entry)
    assert the_finding(audit(dataset), "action").mend == "stats"


@pytest.mark.parametrize(
    ("kind", "stat"), [("lerobot", "q50"), ("lerobot", "std"), ("lossy", "mean"), ("images", "max")]
)
def test_statistics_of_a_camera_that_disagree_with_its_frames_are_a_warning(copy, kind, stat):
    dataset = copy(kind)
    edit_stats(dataset, "observation.images.top", **{stat: [[[0.1]], [[0.1]], [[0.1]]]})
    finding = the_finding(audit(dataset), "observation.images.top")
    assert f"says {stat} 0.1, 0.1, 0.1, the frames say" in finding.message
    assert (finding.severity, finding.mend) == ("warning", "stats")


def test_statistics_of_depth_are_left_alone(copy):
    dataset = copy("foreign")
    edit_feature(dataset, "observation.images.top", shape=[16, 24, 1], info={"is_depth_map": True})
    edit_stats(dataset, "observation.images.top", mean=[[[1234.5]]])
    assert audit(dataset).findings == ()


def test_quantiles_are_judged_as_numpy_computes_them_whatever_the_blocks():
    rows = np.random.default_rng(0).normal(size=(101, 3))
    names = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
    claims = {name: np.quantile(rows, q, axis=0) for name, q in names.items()}
    claims["q90"] = claims["q90"] + [0, 0.5, 0]
    running = RunningStats(claims, np.full(3, 1e-9))
    for start in range(0, 101, 10):
        running.update(rows[start : start + 10])
    assert running.wrong_quantiles() == {"q90": 1}
    np.testing.assert_allclose(running.mean, rows.mean(0))
    np.testing.assert_allclose(running.std, rows.std(0))
    assert running.count == 101


def test_a_store_that_was_not_closed_is_one_warning_and_mended(tmp_path):
    store = LeRobotStore.create(tmp_path / "d", numbered_spec())
    for index in range(3):
        store.append(numbered_episode(numbered_spec(), index, 9))
    (finding,) = audit(store.path).findings
    assert (finding.severity, finding.field) == ("warning", "meta/stats.json")
    assert "the store was not closed" in finding.message
    repair(store.path)
    assert audit(store.path).findings == ()
