"""The commands that score, curate, trim and compare datasets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from demoloom.pipeline.cli import main
from demoloom.pipeline.stages.collect import fingerprint
from demoloom.storage.dataset import open_dataset
from demoloom.storage.quality import read_quality

from .runs import dot_episode, write_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A dot that moves right for 12, 16 and 20 rows."""
    write_store(tmp_path / "store", [dot_episode(index, length=12 + 4 * index) for index in range(3)])
    return tmp_path / "store"


def test_score_keeps_scores_and_prints_how_they_spread(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(store)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["length", "12", "16", "20"]
    assert lines[-1] == "3 episodes; their starts cover 10% of the cells of x"
    assert read_quality(store) is not None


def test_score_is_no_reason_to_train_on_a_dataset_again(store: Path) -> None:
    before = fingerprint(store)
    assert main(["score", str(store)]) == 0
    assert fingerprint(store) == before
    (store / "spec.json").touch()
    assert fingerprint(store) != before


def test_score_takes_settings(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(store), "--idle-speed", "9"]) == 0
    assert "idle_share" in capsys.readouterr().out
    table = read_quality(store)
    assert table is not None
    assert {scores.idle_share for scores in table.episodes.values()} == {1.0}


def test_curate_writes_both_and_counts_clauses(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = store.with_name("kept")
    assert main(["curate", str(store), str(out), "--keep", "length > 12 and length < 20"]) == 0
    shown = capsys.readouterr()
    assert [line.split(maxsplit=1) for line in shown.out.splitlines()] == [
        ["1", "kept"],
        ["2", "rejected"],
        ["1", "length > 12 does not hold"],
        ["1", "length < 20 does not hold"],
    ]
    assert f"wrote what was kept to {out} and the others to {out.with_name('rejected')}" in shown.err
    assert open_dataset(out).ids() == ["dot-000001"]
    assert open_dataset(out.with_name("rejected")).ids() == ["dot-000000", "dot-000002"]


def test_curate_can_be_tried_without_writing(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curate", str(store), str(store.with_name("kept")), "--keep", "length > 12", "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "episode     length  verdict",
        "dot-000000  12      fails length > 12",
        "dot-000001  16      kept",
        "dot-000002  20      kept",
        "     2  kept",
        "     1  rejected",
        "     1  length > 12 does not hold",
    ]
    assert [path.name for path in store.parent.iterdir()] == ["store"]


def test_curate_names_what_it_cannot_read(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["curate", str(store), str(store.with_name("kept")), "--keep", "jerkmean < 3"]) == 2
    assert "demoloom: there is no 'jerkmean' to compare; did you mean 'jerk_mean'?" in capsys.readouterr().err


def test_trim_says_what_it_cuts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # 12 rows from 0 to 1 move 0.9 ranges a second: at a threshold of 1 all is idle, at 0.01 nothing is.
    write_store(tmp_path / "store", [dot_episode(0)])
    assert main(["trim", str(tmp_path / "store"), str(tmp_path / "out"), "--threshold", "0.01"]) == 0
    assert capsys.readouterr().out.splitlines() == ["0 of 12 rows cut"]
    assert len(open_dataset(tmp_path / "out").read("dot-000000")) == 12


def test_trim_can_be_tried_without_writing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    episode = dot_episode(0)
    episode.state[:4] = episode.action[:4] = episode.state[4]
    episode.score[:4] = episode.score[4]
    write_store(tmp_path / "store", [episode])
    assert main(["trim", str(tmp_path / "store"), str(tmp_path / "out"), "--keep", "1", "--dry-run"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "dot-000000: 3 rows off the start, 0 off the end of 12",
        "3 of 12 rows cut",
    ]
    assert not (tmp_path / "out").exists()


def test_diff_of_the_same_episodes_is_exit_code_0(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["convert", str(store), str(store.with_name("copy")), "--format", "lerobot"]) == 0
    assert main(["diff", str(store), str(store.with_name("copy"))]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "the same episodes"


def test_diff_of_different_episodes_is_exit_code_1(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_store(store.with_name("other"), [dot_episode(0), dot_episode(1), dot_episode(7)])
    assert main(["diff", str(store), str(store.with_name("other"))]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "different"
    assert "rows      48 -> 36" in lines
    assert "only left  dot-000002" in lines
    assert "only right dot-000007" in lines
    assert any(line.startswith("changed    dot-000001: length: 16 -> 12; ") for line in lines)


def test_diff_names_no_more_episodes_than_asked_for(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_store(store.with_name("other"), [dot_episode(9)])
    assert main(["diff", str(store), str(store.with_name("other")), "--limit", "1"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("only left")] == [
        "only left  dot-000000",
        "only left  ... and 2 more; --limit 0 names all",
    ]


def test_diff_as_json_holds_everything(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_store(store.with_name("other"), [dot_episode(0)])
    assert main(["diff", str(store), str(store.with_name("other")), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["same"], found["only_left"]) == (False, ["dot-000001", "dot-000002"])


def test_diff_with_nothing_is_exit_code_2(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(store), str(store.with_name("nothing"))]) == 2
    assert "there is no dataset at" in capsys.readouterr().err
