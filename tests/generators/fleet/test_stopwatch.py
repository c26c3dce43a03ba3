import json

import pytest

from demoloom.generators.fleet import stopwatch
from demoloom.generators.fleet.stopwatch import Stopwatch


def test_the_time_of_earlier_tries_counts(tmp_path):
    (tmp_path / "time.json").write_text(json.dumps({"seconds": 100.0}))
    assert Stopwatch(tmp_path / "time.json").seconds() == pytest.approx(100, abs=1)


def test_a_killed_try_leaves_its_time_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(stopwatch, "SAVE_INTERVAL_S", 0.0)
    (tmp_path / "time.json").write_text(json.dumps({"seconds": 100.0}))
    seen = Stopwatch(tmp_path / "time.json").seconds()
    assert json.loads((tmp_path / "time.json").read_text())["seconds"] == pytest.approx(seen, abs=0.1)


def test_nothing_is_kept_without_a_file():
    assert Stopwatch().seconds() == pytest.approx(0, abs=1)
